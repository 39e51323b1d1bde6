/**
 * Returns `make` with a memory of its last results, at most `most`: for texts that come with every request, which would be
 * allocated anew each time. Null is not kept.
 */
export function remembered(make: (text: string) => string, most: number): (text: string) => string;
export function remembered(
  make: (text: string) => string | null,
  most: number,
): (text: string) => string | null;
export function remembered(make: (text: string) => string | null, most: number) {
  const made = new Map<string, string>();
  return (text: string): string | null => {
    const known = made.get(text);
    if (known !== undefined) return known;
    const result = make(text);
    if (result === null) return null;
    if (made.size === most) made.clear();
    made.set(text, result);
    return result;
  };
}
