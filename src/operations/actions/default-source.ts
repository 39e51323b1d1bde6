/** The source of a request that names none: `default`, or the only one. Null when that is ambiguous. */
export function defaultSource(names: Iterable<string>): string | null {
  const all = [...names];
  if (all.includes('default')) return 'default';
  return all.length === 1 ? (all[0] ?? null) : null;
}
