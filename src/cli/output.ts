/** What a command has to say: data for scripts, and the same for people. */
export interface Output {
  /** One record. */
  show(record: Readonly<Record<string, unknown>>): void;
  /** Several records of one kind, of which people see some columns. */
  list(records: readonly Readonly<Record<string, unknown>>[], columns: readonly string[]): void;
  /** A sentence for people; scripts see the record. */
  say(text: string, record?: Readonly<Record<string, unknown>>): void;
}

const cell = (value: unknown): string => {
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value)) return value.map(cell).join(', ') || '-';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** A text that was chosen by somebody else must not steer the terminal. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length))) ?? [];
  return rows
    .map((row) =>
      row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function output(
  json: boolean,
  write: (text: string) => void = (text) => process.stdout.write(`${text}\n`),
): Output {
  if (json) {
    return {
      show: (record) => write(JSON.stringify(record, null, 2)),
      list: (records) => write(JSON.stringify(records, null, 2)),
      say: (_text, record) => write(JSON.stringify(record ?? {}, null, 2)),
    };
  }
  return {
    show: (record) => write(table(Object.entries(record).map(([name, value]) => [name, printable(cell(value))]))),
    list(records, columns) {
      if (records.length === 0) return write('None.');
      write(table([columns, ...records.map((record) => columns.map((name) => printable(cell(record[name]))))]));
    },
    say: (text) => write(text),
  };
}
