/** How a command ends. docs/reference/exit-codes.md is made of this. */
export const exitCodes = {
  done: [0, 'done', 'The command did what it was asked, or the server was told to stop and stopped in order.'],
  refused: [
    1,
    'refused',
    'The input or the state does not allow it; `doctor` found a problem; whoever was asked did not mean it; the server was told twice to stop, and left at once.',
  ],
  usage: [2, 'wrong usage', 'There is no such command or option, or an argument is missing.'],
  setup: [
    3,
    'the configuration or the data cannot be used',
    'A setting is wrong, the data is not where the settings say, the database cannot be reached, or the secret does not open it.',
  ],
} as const;

/** All of them in one line. */
export const exitCodesInShort: string = Object.values(exitCodes)
  .map(([code, short]) => `${code} ${short}`)
  .join(', ');
