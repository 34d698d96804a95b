/** What a command has to say: data for scripts, and the same for people. */
export interface Output {
  /** One record. */
  show(record: Readonly<Record<string, unknown>>): void;
  /**
   * Several records of one kind, of which people see some columns.
   * @param options.whole whether nothing is cut, however narrow the terminal
   */
  list(
    records: readonly Readonly<Record<string, unknown>>[],
    columns: readonly string[],
    options?: { readonly whole?: boolean },
  ): void;
  /** A record with a secret in it, of which people are told that it is shown this once. */
  showOnce(record: Readonly<Record<string, unknown>>, secret: string): void;
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

/** How many columns of a terminal a text takes: those of East Asia and emoji take two, combining marks none. */
const WIDE =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/u;
const letters = new Intl.Segmenter();
const pieces = (text: string): { readonly text: string; readonly width: number }[] =>
  /^[ -~]*$/.test(text)
    ? [...text].map((letter) => ({ text: letter, width: 1 }))
    : [...letters.segment(text)].map(({ segment }) => ({ text: segment, width: WIDE.test(segment) ? 2 : 1 }));
const widthOf = (text: string): number => pieces(text).reduce((sum, { width }) => sum + width, 0);

/** A text cut to a width, with a sign that it was. */
export function fit(text: string, width: number): string {
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
const NARROWEST = 12;

/** @param columns how wide the terminal is: texts of several words give way, ids do not. Undefined leaves all whole */
function table(rows: readonly (readonly string[])[], columns: number | undefined): string {
  const cells = (column: number) => rows.map((row) => row[column] ?? '');
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...cells(column).map(widthOf)));
  const room = (columns ?? Number.POSITIVE_INFINITY) - GAP * (widths.length - 1);
  for (const column of widths.keys()) {
    const excess = widths.reduce((sum, width) => sum + width, 0) - room;
    const width = widths[column] ?? 0;
    const givesWay = excess > 0 && width > NARROWEST && cells(column).some((text) => text.includes(' '));
    if (givesWay) widths[column] = Math.max(NARROWEST, width - excess);
  }
  return rows
    .map((row) =>
      row
        .map((text, column) => {
          const shown = fit(text, widths[column] ?? 0);
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
  tell: (text: string) => void = (text) => process.stderr.write(`${text}\n`),
): Output {
  if (json) {
    const show = (record: Readonly<Record<string, unknown>>) => write(JSON.stringify(record, null, 2));
    return {
      show,
      showOnce: show,
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
      tell(`The ${secret} is shown this once. Keep it now.`);
    },
    list(records, names, { whole = false } = {}) {
      if (records.length === 0) return write('None.');
      const rows = records.map((record) => names.map((name) => printable(cell(record[name]))));
      write(table([names, ...rows], whole ? undefined : columns));
    },
    say: (text) => write(text),
  };
}
