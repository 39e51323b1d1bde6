/** Reader of an option that may be repeated: collects its values in order. */
export function repeatable(value: string, previous: readonly string[] | undefined): string[] {
  return [...(previous ?? []), value];
}
