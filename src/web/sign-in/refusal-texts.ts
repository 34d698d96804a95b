import type { AuthenticationRefusal } from '../../account-actions/authentication/authenticators.ts';
import type { PasskeyServices } from '../../account-actions/authentication/passkey.ts';
import { formatMoment, operator } from '../../pages/components.ts';
import { type HtmlPart, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';
import { passkeyProblemText, unknownPasskey } from '../../pages/passkey.ts';
import type { RequestRefusal } from '../../platform/http/errors.ts';

interface RefusalServices extends Pick<PasskeyServices, 'relyingParty'> {
  readonly site: Site;
}

/** What the log and the trace say of a sign-in that was refused. */
export const SIGN_IN_REFUSALS: Readonly<Record<AuthenticationRefusal['kind'], RequestRefusal>> = {
  limited: { code: 'rate_limit_exceeded', reason: 'too many failed sign-ins', description: 'too many failed sign-ins' },
  wrong: {
    code: 'access_denied',
    reason: 'unknown name or wrong password',
    description: 'unknown name or wrong password',
    detail: {
      expected: 'the username or email address of an account, and its password',
      remedy: 'The user corrects them, or has the password replaced: tessera user update USER --password-stdin',
    },
  },
  'unknown passkey': {
    code: 'access_denied',
    reason: 'unknown passkey',
    description: 'unknown passkey',
    detail: { remedy: 'The user signs in another way, and adds a passkey again.' },
  },
  'wrong passkey': { code: 'access_denied', reason: 'refused passkey', description: 'refused passkey' },
  changed: {
    code: 'conflict',
    reason: 'the account changed during the sign-in',
    description: 'the account changed during the sign-in',
    detail: { remedy: 'The user signs in again.' },
  },
  suspended: {
    code: 'access_denied',
    reason: 'suspended',
    description: 'suspended',
    detail: { expected: 'an account in good standing', remedy: 'Lift it with: tessera user reinstate USER' },
  },
  banned: {
    code: 'access_denied',
    reason: 'banned',
    description: 'banned',
    detail: { expected: 'an account in good standing', remedy: 'Lift it with: tessera user unban USER' },
  },
};

/** What people are told of a sign-in that was refused. */
export function refusalText(
  refusal: AuthenticationRefusal,
  { site, relyingParty }: RefusalServices,
): { status: number; text: HtmlPart } {
  const { signIn: text, passkeys } = site.messages;
  switch (refusal.kind) {
    case 'limited':
      return { status: 429, text: text.limited(refusal.seconds) };
    case 'wrong':
      return { status: 401, text: text.wrong };
    case 'unknown passkey': {
      const forget = relyingParty && !refusal.isOfUse && unknownPasskey(relyingParty.id, refusal.credentialId);
      return { status: 401, text: html`${passkeys.unknown}${forget}` };
    }
    case 'wrong passkey':
      return { status: 401, text: passkeyProblemText(site, refusal.problem) };
    case 'changed':
      return { status: 409, text: text.changed };
    case 'suspended':
      return { status: 403, text: text.suspended(operator(site)) };
    case 'banned': {
      const until = refusal.account.bannedUntil;
      const told = until === null ? text.banned(operator(site)) : text.bannedUntil(formatMoment(until), operator(site));
      return { status: 403, text: told };
    }
  }
}
