import { configurationProblem, type Finding, ok, problem, warning } from '../finding.ts';
import { othersWhoRead } from './database.ts';

/** Which secret opens the keys of the database. */
export type SecretMatch =
  | { readonly kind: 'current' | 'previous' | 'no keys' | 'not looked at' }
  | { readonly kind: 'neither'; readonly message: string };

export interface SecretSight {
  /** What keeps a start from using the secret, in its words. */
  readonly problems: readonly string[];
  /** Where it lies, unless a variable holds it. */
  readonly file: { readonly path: string; readonly mode: number; readonly folderMode: number } | undefined;
  /** There is none, and a start would make one. */
  readonly missing: boolean;
  readonly previousIsSet: boolean;
}

export function judgeSecret(secret: SecretSight, fit: SecretMatch): Finding[] {
  const { file, problems, missing } = secret;
  if (problems.length > 0)
    return problems.map((text) => configurationProblem('secret', text, 'Restore it from a backup.'));
  if (missing) {
    // A start would make a secret that does not open them.
    if (fit.kind === 'neither') {
      return [
        problem(
          'secret',
          'The secret is gone, and the keys in the database are sealed with it.',
          'Restore the file of the secret from a backup before the next start, or give the secret in TESSERA_SECRET.',
        ),
      ];
    }
    return [ok('secret', 'There is none yet. The first start makes it.')];
  }
  const findings: Finding[] = [];
  const reader = file && othersWhoRead(file.mode, file.folderMode);
  if (file !== undefined && reader !== undefined) {
    const say = reader === 'everybody' ? problem : warning;
    findings.push(say('secret', `${file.path} can be read by ${reader} on this machine.`, `chmod 600 '${file.path}'`));
  }
  const where = file === undefined ? 'given in TESSERA_SECRET' : `in ${file.path}`;
  switch (fit.kind) {
    case 'neither':
      findings.push(configurationProblem('secret', fit.message, 'Give the secret that the database was made with.'));
      break;
    case 'previous':
      findings.push(
        ok(
          'secret',
          'TESSERA_SECRET_PREVIOUS opens keys of the database; the next start seals them with the new secret.',
        ),
      );
      break;
    case 'current':
      if (secret.previousIsSet) {
        findings.push(
          warning(
            'secret',
            'TESSERA_SECRET_PREVIOUS is set, and nothing needs it: the secret opens all keys.',
            'Unset it once every node runs with the new secret.',
          ),
        );
      } else findings.push(ok('secret', `It is ${where}, and opens the keys of the database.`));
      break;
    case 'no keys':
      findings.push(ok('secret', `It is ${where}. The database holds no keys yet.`));
      break;
    case 'not looked at':
      findings.push(
        warning(
          'secret',
          `It is ${where}. Whether it opens the keys of the database was not looked at.`,
          'Mend the database, or run the migrations; then run tessera doctor again.',
        ),
      );
  }
  return findings;
}
