import { limitVariables } from '../../../limits/settings.ts';
import { isLoopback } from '../../../platform/config/loopback.ts';
import type { Config } from '../../../settings/config.ts';
import { type CheckRow, configurationProblem, type Finding, ok, tabulate } from '../finding.ts';

const REFERENCE = 'Correct it in the settings of the server; docs/reference/configuration.md lists all of them.';

/** The configuration errors that would stop a start, in the same words. */
export const judgeRefusals = (problems: readonly string[]): Finding[] =>
  problems.map((text) => configurationProblem('configuration', text, REFERENCE));

/** Settings that are valid but not suitable for production. */
export function judgeConfiguration(config: Config, baseUrl: string): Finding[] {
  const { protocol, hostname } = new URL(baseUrl);
  const guessed = [
    ['signInAccount', 'the password of an account'],
    ['signInAddress', 'passwords from one address'],
    ['clientAuth', 'the secret of a client'],
    ['adminKey', 'admin keys'],
  ] as const;
  const findings = tabulate('configuration', [
    [
      protocol === 'http:' && !isLoopback(hostname) && 'warning',
      `TESSERA_ALLOW_HTTP allows ${baseUrl}: passwords, cookies and tokens are sent over the network unencrypted.`,
      'Set TESSERA_BASE_URL to an https URL, and unset TESSERA_ALLOW_HTTP.',
    ],
    ...guessed.map(([name, what]): CheckRow => {
      const { name: variable, initial } = limitVariables[name];
      return [
        config.limits[name] === null && 'warning',
        `${variable} is off: attempts to guess ${what} are not limited.`,
        `Unset it for the default ${initial.replaceAll('`', '')}, or set a limit.`,
      ];
    }),
    [
      (config.logLevel === 'silent' || config.logLevel === 'fatal') && 'warning',
      `TESSERA_LOG_LEVEL is ${config.logLevel}: errors are not logged.`,
      'Set TESSERA_LOG_LEVEL to error or info.',
    ],
  ]);
  const whose = isLoopback(hostname) ? `, for this machine only (${baseUrl})` : `, for ${baseUrl}`;
  return findings.length > 0 ? findings : [ok('configuration', `All settings are valid${whose}.`)];
}
