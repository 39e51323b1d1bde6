/** Writes cells side by side, each at least as wide as its column; the last may be longer. */
export function textRow(widths: readonly number[]): (cells: readonly string[]) => string {
  return (cells) =>
    cells
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd();
}
