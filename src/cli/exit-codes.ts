/** The exit codes of the command line. docs/reference/exit-codes.md is generated from them. */
export const exitCodes = {
  success: [0, 'success', 'The command succeeded, or the server was told to stop and shut down cleanly.'],
  failure: [
    1,
    'failure',
    'The input or the current state does not allow it; `doctor` found a problem; `health` found the server not ready; the confirmation was declined, or there was no terminal to ask in; or the server was told to stop twice and exited immediately.',
  ],
  missing: [
    4,
    'not found',
    'What the command names is not there: no such user, app or key, or no trace of the request.',
  ],
  usage: [2, 'wrong usage', 'Unknown command or option, or a missing argument.'],
  unusable: [
    3,
    'unusable configuration or data',
    'A setting is invalid, the data is not where the settings say, the database cannot be reached, or the secret does not decrypt it. With `--server`: the server cannot be reached, its certificate is not trusted, or it does not accept the key.',
  ],
} as const;

/** All exit codes on one line. */
export const exitCodesInShort: string = Object.values(exitCodes)
  .map(([code, short]) => `${code} ${short}`)
  .join(', ');
