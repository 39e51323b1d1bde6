export type CsvCell = string | number | null | undefined;

/** Rows as CSV, the header first. */
export function csvRows(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

/**
 * Quoted as RFC 4180 asks. Spreadsheets take text that begins with one of these signs for a formula; ids and context
 * come from senders, so an apostrophe keeps it text.
 */
function cell(value: CsvCell): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const harmless = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
