import { configurationProblem, type Finding, ok, warning } from '../finding.ts';

/** A backup as it was found. */
export type BackupSight =
  | { readonly kind: 'unusable'; readonly problems: readonly string[] }
  | {
      readonly kind: 'whole';
      readonly path: string;
      readonly createdAt: string;
      /** The version of Tessera that made it. */
      readonly version: string;
      /** Whether it was made with a secret that is configured here. */
      readonly isOfSecret: boolean;
      /** Whether it contains its secret, under a passphrase. */
      readonly hasSecret: boolean;
    };

/** Judges a backup that was read from beginning to end; undefined where none was named. */
export function judgeBackup(sight: BackupSight | undefined): Finding[] {
  if (sight === undefined) return [];
  if (sight.kind === 'unusable') {
    return sight.problems.map((text) => configurationProblem('backup', text, 'Choose another backup.'));
  }
  const { path, createdAt, version, isOfSecret, hasSecret } = sight;
  const whole = `${path} is whole: Tessera ${version} made it at ${createdAt}.`;
  if (isOfSecret || hasSecret) return [ok('backup', whole)];
  return [
    warning(
      'backup',
      `${whole} It was made with another secret than the one here, and does not contain it.`,
      'Keep the secret of that time with it: without it, the backup cannot be restored.',
    ),
  ];
}
