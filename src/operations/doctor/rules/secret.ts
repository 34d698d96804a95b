import { configurationProblem, type Finding, ok, problem, warning } from '../finding.ts';
import { othersWhoRead } from './database.ts';

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
  const findings: Finding[] = [];
  const reader = file && othersWhoRead(file.mode, file.folderMode);
  if (file !== undefined && reader !== undefined) {
    const say = reader === 'all users' ? problem : warning;
    findings.push(say('secret', `${file.path} can be read by ${reader} on this machine.`, `chmod 600 '${file.path}'`));
  }
  const where = file === undefined ? 'set in TESSERA_SECRET' : `in ${file.path}`;
  switch (fit.kind) {
    case 'neither':
      findings.push(configurationProblem('secret', fit.message, 'Set the secret that the database was created with.'));
      break;
    case 'previous':
      findings.push(
        ok(
          'secret',
          'TESSERA_SECRET_PREVIOUS decrypts keys of the database; the next start encrypts them with the new secret.',
        ),
      );
      break;
    case 'current':
      if (secret.previousIsSet) {
        findings.push(
          warning(
            'secret',
            'TESSERA_SECRET_PREVIOUS is set but not needed: the secret decrypts all keys.',
            'Unset it once every node runs with the new secret.',
          ),
        );
      } else findings.push(ok('secret', `It is ${where}, and decrypts the keys of the database.`));
      break;
    case 'no keys':
      findings.push(ok('secret', `It is ${where}. The database has no keys yet.`));
      break;
    case 'not checked':
      findings.push(
        warning(
          'secret',
          `It is ${where}. Whether it decrypts the keys of the database was not checked.`,
          'Repair the database, or run the migrations. Then run tessera doctor again.',
        ),
      );
  }
  return findings;
}
