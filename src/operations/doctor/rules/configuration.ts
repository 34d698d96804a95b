import { type Config, isLoopback } from '../../../platform/config/config.ts';
import { limitVariables } from '../../../platform/config/limits.ts';
import { configurationProblem, type Finding, ok, warning } from '../finding.ts';

const REFERENCE = 'Correct it where the server gets its settings; docs/reference/configuration.md lists them all.';

/** What keeps a start from beginning, in the configuration's own words. */
export const judgeRefusals = (problems: readonly string[]): Finding[] =>
  problems.map((text) => configurationProblem('configuration', text, REFERENCE));

/** Settings that are valid, and not what a service for people should run with. */
export function judgeConfiguration(config: Config, baseUrl: string): Finding[] {
  const { protocol, hostname } = new URL(baseUrl);
  const findings: Finding[] = [];
  if (protocol === 'http:' && !isLoopback(hostname)) {
    findings.push(
      warning(
        'configuration',
        `TESSERA_ALLOW_HTTP allows ${baseUrl}: passwords, cookies and tokens cross the network in the clear.`,
        'Set TESSERA_BASE_URL to an https address, and unset TESSERA_ALLOW_HTTP.',
      ),
    );
  }
  const off = (
    [
      ['signInAccount', 'passwords of one account'],
      ['signInAddress', 'passwords from one address'],
      ['clientAuth', 'secrets of a client'],
      ['adminKey', 'admin keys'],
    ] as const
  ).filter(([name]) => config.limits[name] === null);
  for (const [name, what] of off) {
    const { name: variable, initial } = limitVariables[name];
    findings.push(
      warning(
        'configuration',
        `${variable} is off: nothing slows down who tries ${what}.`,
        `Unset it, which gives ${initial.replaceAll('`', '')}, or set a limit.`,
      ),
    );
  }
  if (config.logLevel === 'silent' || config.logLevel === 'fatal') {
    findings.push(
      warning(
        'configuration',
        `TESSERA_LOG_LEVEL is ${config.logLevel}: a fault leaves no trace.`,
        'Set TESSERA_LOG_LEVEL to error or info.',
      ),
    );
  }
  const whose = isLoopback(hostname) ? `, for this machine alone (${baseUrl})` : `, for ${baseUrl}`;
  return findings.length > 0 ? findings : [ok('configuration', `Every setting is valid${whose}.`)];
}
