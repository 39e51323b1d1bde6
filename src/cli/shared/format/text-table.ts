/** Heading, width and text of a column. Null is as wide as the longest text; the width of others does not depend on what is listed. */
export type TextColumn<T> = readonly [title: string, width: number | null, cell: (item: T) => string];

/** Headings and a row for each item, side by side. A text that is longer than its column moves the others. */
export function textTable<T>(columns: readonly TextColumn<T>[], items: readonly T[]): string[] {
  const widths = columns.map(
    ([title, width, cell]) => width ?? Math.max(title.length, ...items.map((item) => cell(item).length)),
  );
  const row = (textOf: (column: TextColumn<T>) => string) =>
    columns
      .map((column, at) => textOf(column).padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd();
  return [row(([title]) => title), ...items.map((item) => row(([, , cell]) => cell(item)))];
}
