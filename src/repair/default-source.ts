/** The source that is meant when none is named: `default`, or the only one. Null when that is open. */
export function defaultSource(names: Iterable<string>): string | null {
  const all = [...names];
  return all.includes('default') ? 'default' : all.length === 1 ? (all[0] ?? null) : null;
}
