/** The output of a command: JSON for scripts, or tables and sentences. */
export interface Output {
  show(record: Readonly<Record<string, unknown>>): void;
  /**
   * Prints a list of records; the table shows the given columns only.
   * @param options.whole whether to print cells in full, however narrow the terminal
   */
  list(
    records: readonly Readonly<Record<string, unknown>>[],
    columns: readonly string[],
    options?: { readonly whole?: boolean },
  ): void;
  /** Prints a record that contains a secret, and a note that it is not shown again. */
  showOnce(record: Readonly<Record<string, unknown>>, secret: string): void;
  /** Prints what a person should know beside the result, to standard error; with `--json`, nothing. */
  note(text: string): void;
  /** Prints a sentence; with `--json`, the record. */
  say(text: string, record?: Readonly<Record<string, unknown>>): void;
}

const cell = (value: unknown): string => {
  if (value === null || value === undefined) return '-';
  if (Array.isArray(value)) return value.map(cell).join(', ') || '-';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** Replaces control characters: names chosen by users must not control the terminal. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/gu, '\ufffd');

/** Characters that take two columns of a terminal: East Asian wide characters and emoji. */
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
const graphemes = new Intl.Segmenter();
const pieces = (text: string): { readonly text: string; readonly width: number }[] =>
  /^[ -~]*$/.test(text)
    ? [...text].map((letter) => ({ text: letter, width: 1 }))
    : [...graphemes.segment(text)].map(({ segment }) => ({ text: segment, width: WIDE.test(segment) ? 2 : 1 }));
const widthOf = (text: string): number => pieces(text).reduce((sum, { width }) => sum + width, 0);

/** Truncates a text to a width, with an ellipsis. */
function truncate(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let [kept, left] = ['', width - 1];
  for (const piece of pieces(text)) {
    if (piece.width > left) break;
    kept += piece.text;
    left -= piece.width;
  }
  return `${kept}…`;
}

const GAP = 2;
const MIN_WIDTH = 12;

/** @param columns the width of the terminal, to which columns with several words are truncated; undefined for no limit */
function table(rows: readonly (readonly string[])[], columns: number | undefined): string {
  const cells = (column: number) => rows.map((row) => row[column] ?? '');
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...cells(column).map(widthOf)));
  const room = (columns ?? Number.POSITIVE_INFINITY) - GAP * (widths.length - 1);
  for (const column of widths.keys()) {
    const excess = widths.reduce((sum, width) => sum + width, 0) - room;
    const width = widths[column] ?? 0;
    const isTruncated = excess > 0 && width > MIN_WIDTH && cells(column).some((text) => text.includes(' '));
    if (isTruncated) widths[column] = Math.max(MIN_WIDTH, width - excess);
  }
  return rows
    .map((row) =>
      row
        .map((text, column) => {
          const shown = truncate(text, widths[column] ?? 0);
          return shown + ' '.repeat((widths[column] ?? 0) - widthOf(shown) + GAP);
        })
        .join('')
        .trimEnd(),
    )
    .join('\n');
}

export function output(
  json: boolean,
  write: (text: string) => void = (text) => process.stdout.write(`${text}\n`),
  columns: number | undefined = process.stdout.isTTY ? process.stdout.columns : undefined,
  writeNote: (text: string) => void = (text) => process.stderr.write(`${text}\n`),
): Output {
  if (json) {
    const show = (record: Readonly<Record<string, unknown>>) => write(JSON.stringify(record, null, 2));
    return {
      show,
      showOnce: show,
      note: () => {},
      list: (records) => write(JSON.stringify(records, null, 2)),
      say: (_text, record) => write(JSON.stringify(record ?? {}, null, 2)),
    };
  }
  const show = (record: Readonly<Record<string, unknown>>) =>
    write(
      table(
        Object.entries(record).map(([name, value]) => [name, printable(cell(value))]),
        undefined,
      ),
    );
  return {
    show,
    showOnce(record, secret) {
      show(record);
      writeNote(`Copy the ${secret} now: it is not shown again.`);
    },
    list(records, names, { whole = false } = {}) {
      if (records.length === 0) return write('None.');
      const rows = records.map((record) => names.map((name) => printable(cell(record[name]))));
      write(table([names, ...rows], whole ? undefined : columns));
    },
    note: writeNote,
    say: (text) => write(text),
  };
}
