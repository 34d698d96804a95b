import { configurationProblem, type Finding, ok, problem, tabulate } from '../finding.ts';
import { levelOfReader, othersWhoRead } from './database.ts';

/** Which secret decrypts the keys of the database. */
export type SecretMatch =
  | { readonly kind: 'current' | 'previous' | 'no keys' | 'not checked' }
  | { readonly kind: 'neither'; readonly message: string };

export interface SecretSight {
  /** Why a start could not use the secret, in its words. */
  readonly problems: readonly string[];
  /** The file that contains it, unless a variable does. */
  readonly file: { readonly path: string; readonly mode: number; readonly folderMode: number } | undefined;
  /** There is none, and a start would create one. */
  readonly missing: boolean;
  readonly previousIsSet: boolean;
}

export function judgeSecret(secret: SecretSight, fit: SecretMatch): Finding[] {
  const { file, problems, missing } = secret;
  if (problems.length > 0)
    return problems.map((text) => configurationProblem('secret', text, 'Restore it from a backup.'));
  if (missing) {
    // A start would create a secret that does not decrypt them.
    if (fit.kind === 'neither') {
      return [
        problem(
          'secret',
          'The secret is gone, and the keys in the database are encrypted with it.',
          'Restore the secret file from a backup before the next start, or set TESSERA_SECRET.',
        ),
      ];
    }
    return [ok('secret', 'There is none yet. The first start creates it.')];
  }
  const reader = file && othersWhoRead(file.mode, file.folderMode);
  const where = file === undefined ? 'set in TESSERA_SECRET' : `in ${file.path}`;
  const isCurrent = fit.kind === 'current';
  return [
    ...tabulate('secret', [
      [levelOfReader(reader), `${file?.path} can be read by ${reader} on this machine.`, `chmod 600 '${file?.path}'`],
    ]),
    ...(fit.kind === 'neither'
      ? [configurationProblem('secret', fit.message, 'Set the secret that the database was created with.')]
      : []),
    ...tabulate('secret', [
      [
        fit.kind === 'previous' && 'ok',
        'TESSERA_SECRET_PREVIOUS decrypts keys of the database; the next start encrypts them with the new secret.',
      ],
      [
        isCurrent && secret.previousIsSet && 'warning',
        'TESSERA_SECRET_PREVIOUS is set but not needed: the secret decrypts all keys.',
        'Unset it once every node runs with the new secret.',
      ],
      [isCurrent && !secret.previousIsSet && 'ok', `It is ${where}, and decrypts the keys of the database.`],
      [fit.kind === 'no keys' && 'ok', `It is ${where}. The database has no keys yet.`],
      [
        fit.kind === 'not checked' && 'warning',
        `It is ${where}. Whether it decrypts the keys of the database was not checked.`,
        'Repair the database, or run the migrations. Then run tessera doctor again.',
      ],
    ]),
  ];
}
