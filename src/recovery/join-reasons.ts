/** Several reasons as one text; null when there is none. */
export function joinReasons(reasons: readonly (string | null)[]): string | null {
  const given = reasons.filter((reason) => reason !== null);
  return given.length === 0 ? null : given.join('; ');
}
