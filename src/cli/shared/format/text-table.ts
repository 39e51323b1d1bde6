/** Heading, width and text of a column. Null: as wide as its longest text; other widths are fixed. */
export type TextColumn<T> = readonly [title: string, width: number | null, cell: (item: T) => string];

/** Headings and a row for each item. A text longer than its column shifts the following ones. */
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
