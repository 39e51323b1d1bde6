/** The candidate that a mistyped name probably means, or null when none is close. */
export function nearest(name: string, candidates: readonly string[]): string | null {
  const limit = Math.max(1, Math.floor(name.length / 3));
  let best: { readonly candidate: string; readonly distance: number } | null = null;
  for (const candidate of candidates) {
    const distance = editDistance(plain(name), plain(candidate));
    if (distance <= limit && (best === null || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate ?? null;
}

/** max-parts, max_parts and MaxParts all mean maxParts. */
function plain(name: string): string {
  return name.toLowerCase().replaceAll(/[-_]/g, '');
}

/** Optimal string alignment: insertions, deletions, substitutions and swapped neighbours count one each. */
function editDistance(left: string, right: string): number {
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_, index) => index)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= left.length; row++) {
    const current = [row];
    rows.push(current);
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      current.push(
        Math.min(
          at(row - 1, column - 1) + (same ? 0 : 1),
          at(row - 1, column) + 1,
          at(row, column - 1) + 1,
          swapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
  }
  return at(left.length, right.length);
}
