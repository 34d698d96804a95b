import type { MailSettings } from '../platform/config/mail.ts';
import { type Reading, Variable } from '../platform/config/variable.ts';
import { canonicalDomain } from '../platform/domain-name.ts';

const MODES = ['open', 'domains', 'invitation', 'closed'] as const;

/** Who may create an account: anyone, people with an address of certain domains, people who were invited, or only operators. */
export type SignUpMode = (typeof MODES)[number];

export interface SignUpSettings {
  readonly mode: SignUpMode;
  /** The domains of the mode `domains`, in ASCII and lower case. */
  readonly domains: readonly string[];
}

function signUpMode(value: string): Reading<SignUpMode> {
  const mode = MODES.find((known) => known === value);
  return mode === undefined ? { problem: `must be one of ${MODES.join(', ')}` } : { value: mode };
}

function domains(value: string): Reading<readonly string[]> {
  const list = value.split(',').map((domain) => canonicalDomain(domain.trim()));
  if (list.every((domain) => domain !== undefined)) return { value: list };
  return { problem: 'must be domain names separated by commas, for example example.com,example.org' };
}

/** The variables of sign-up, in the order of the reference page. */
export const signUpVariables = {
  signUp: new Variable('TESSERA_SIGN_UP', signUpMode, {
    initial: '`open`',
    about:
      'Who may create an account: `open` anyone, `domains` people who prove an address of `TESSERA_SIGN_UP_DOMAINS` (needs mail), `invitation` people with an invitation, `closed` only operators.',
  }),
  signUpDomains: new Variable('TESSERA_SIGN_UP_DOMAINS', domains, {
    initial: 'none',
    about:
      'With `TESSERA_SIGN_UP=domains`: the domains of the email addresses that people may have, separated by commas. Subdomains are not included.',
  }),
} as const;

/** Reads the settings of sign-up. */
export function readSignUpSettings(
  environment: Readonly<Record<string, string | undefined>>,
  problems: string[],
  mail: MailSettings,
): SignUpSettings {
  const { signUp, signUpDomains } = signUpVariables;
  const mode = signUp.read(environment, problems) ?? 'open';
  const list = signUpDomains.read(environment, problems);
  if (mode === 'domains' && list === undefined && !environment[signUpDomains.name]) {
    problems.push(
      `${signUp.name} is domains, and ${signUpDomains.name} names none. Set it, for example to example.com.`,
    );
  }
  if (mode === 'domains' && mail.smtp === undefined && !mail.mailbox) {
    problems.push(
      `${signUp.name} is domains, and addresses cannot be verified without mail. Set TESSERA_SMTP_URL, or another mode.`,
    );
  }
  if (mode !== 'domains' && list !== undefined) {
    problems.push(
      `${signUpDomains.name} is set, and ${signUp.name} is ${mode}. Remove it, or set the mode to domains.`,
    );
  }
  return { mode, domains: list ?? [] };
}
