/** The source of a request that names none: `default`, or the only one. Null when that is ambiguous. */
export function defaultSource(names: Iterable<string>): string | null {
  const all = [...names];
  return all.includes('default') ? 'default' : all.length === 1 ? (all[0] ?? null) : null;
}
