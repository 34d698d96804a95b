import type { MailSettings } from '../platform/config/mail.ts';
import { onOff } from '../platform/config/readings.ts';
import { Variable } from '../platform/config/variable.ts';

/** The variable of sign-in by a code in a message. */
export const signInCodeVariables = {
  signInCode: new Variable('TESSERA_SIGN_IN_CODE', onOff, {
    initial: '`off`',
    about:
      'Whether people can sign in with a code that is sent to their verified email address, instead of their password (needs mail). It is never a second factor.',
  }),
} as const;

export function readSignInCode(
  environment: Readonly<Record<string, string | undefined>>,
  problems: string[],
  mail: MailSettings,
): boolean {
  const { signInCode } = signInCodeVariables;
  const isOn = signInCode.read(environment, problems) ?? false;
  if (isOn && mail.smtp === undefined && !mail.mailbox) {
    problems.push(`${signInCode.name} is on, and codes cannot be sent without mail. Set TESSERA_SMTP_URL, or off.`);
  }
  return isOn;
}
