/** How rows are written to a file. */
export const EXPORT_FORMATS = ['csv', 'jsonl'] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** The value of a column. */
type Cell = string | number | boolean | null;

export const mediaTypeOf = (format: ExportFormat): string =>
  format === 'csv' ? 'text/csv; charset=utf-8' : 'application/jsonl; charset=utf-8';

/**
 * Where a spreadsheet would begin a cell with a formula. Where the list separator of the system is a semicolon, as in most of Europe, it splits
 * the rows there, or at tabs, whatever is quoted: a part of a text is a cell then, and a line of it a row.
 */
const FORMULA = /(^|[;\t\r\n])(?=[" ]*[=+\-@])|^(?=[\t\r])/g;

/** RFC 4180 §2: a cell with a separator, a quote or a line break is quoted. What would be a formula becomes a text. */
export function csvCell(value: Cell): string {
  const text = value === null ? '' : String(value);
  const safe = typeof value === 'string' ? text.replaceAll(FORMULA, "$1'") : text;
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The lines before the rows. */
export const headerOf = (format: ExportFormat, columns: readonly string[]): string =>
  format === 'csv' ? `${columns.map(csvCell).join(',')}\r\n` : '';

export function rowOf(
  format: ExportFormat,
  columns: readonly string[],
  row: Readonly<Record<string, unknown>>,
): string {
  if (format === 'jsonl') return `${JSON.stringify(row)}\n`;
  const cells = columns.map((column) => cellOf(row[column]));
  return `${cells.map(csvCell).join(',')}\r\n`;
}

const cellOf = (value: unknown): Cell =>
  value === undefined || value === null
    ? null
    : typeof value === 'object'
      ? JSON.stringify(value)
      : typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
        ? value
        : String(value);

/** The last line of a file that is not complete: nobody takes it for the end of the list. */
export const endedOf = (format: ExportFormat, why: string): string =>
  format === 'csv' ? `${csvCell(`NOT COMPLETE: ${why}`)}\r\n` : `${JSON.stringify({ notComplete: why })}\n`;
