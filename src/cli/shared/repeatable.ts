/** For options that may be given several times: gathers their values in order. */
export function repeatable(value: string, previous: readonly string[] | undefined): string[] {
  return [...(previous ?? []), value];
}
