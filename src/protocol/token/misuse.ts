import type { AuditEvent } from '../../audit/audit.ts';
import { verifyIdToken } from '../../keys/id-tokens.ts';
import type { Keys } from '../../keys/keys.ts';
import { type SignedToken, TOKEN_KINDS, type TokenKind } from '../../keys/tokens.ts';
import { SECOND } from '../../platform/clock.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { readAnyClaims, readIdClaims, type VerifiedClientToken, type VerifiedToken } from './rules/claims.ts';
import { describeForm, type PresentedForm } from './rules/presented-form.ts';

/** RFC 7515 §7.1: three parts, of which the signature is empty for the algorithm `none`. */
const TOKEN_FORM = /^([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/;

/** The part of an audit event that describes a misused token. */
export type TokenMisuse = Pick<AuditEvent, 'type' | 'accountId' | 'clientId' | 'details'>;

/**
 * Why a text is not accepted as a token. The holder may know it all: it follows from the text's form, or from the claims of a token
 * whose signature was verified, which anyone who has the token can read (docs/decisions/0013).
 */
export interface TokenFault extends PresentedForm {
  /** LG-03: set where it may be part of an attack: a token of another kind, for another audience, or forged. */
  readonly misuse: TokenMisuse | undefined;
}

interface FaultContext {
  /** The token, where it is of the expected kind. */
  readonly signed: SignedToken | undefined;
  readonly issuer: string;
  readonly now: number;
}

const FIELDS = { access: 'access_token', refresh: 'refresh_token' } as const;
const NAMES = { access: 'an access token', refresh: 'a refresh token' } as const;

/** Finds out what was presented where a token of the expected kind belongs, and was not accepted. */
export async function tokenFault(
  keys: Keys,
  expected: TokenKind,
  token: string,
  { signed, issuer, now }: FaultContext,
): Promise<TokenFault> {
  if (signed !== undefined) return signedFault(signed, issuer, now);
  const found = describeForm(token, expected, issuer);
  const header = TOKEN_FORM.exec(token)?.[1];
  if (header === undefined) return { ...found, misuse: undefined };
  const send = `Send the ${FIELDS[expected]} of the token response.`;
  for (const kind of TOKEN_KINDS) {
    const claims = kind === expected ? undefined : keys.keySet().byHeader(kind, header)?.verify(token);
    if (claims === undefined) continue;
    const reason = NAMES[kind];
    const { accountId = null, clientId = null } = readAnyClaims(claims, kind, issuer, now) ?? {};
    const misuse = { type: 'token.wrong_kind', accountId, clientId, details: { reason } } as const;
    return { reason, description: `is ${reason}. ${send}`, misuse };
  }
  const named = await verifyIdToken(keys, token);
  if (named !== undefined) {
    const reason = 'an ID token';
    const { accountId = null, clientId: audience = '' } = readIdClaims(named, issuer) ?? {};
    const clientId = isSnowflake(audience) ? audience : null;
    const misuse = { type: 'token.wrong_kind', accountId, clientId, details: { reason } } as const;
    return {
      reason,
      description: `is ${reason}, which tells the app who signed in and gives no access. ${send}`,
      misuse,
    };
  }
  return { ...found, misuse: { type: 'token.forged', details: { reason: 'unknown signing key' } } };
}

/** Why the claims of a token of the expected kind are not accepted. */
function signedFault({ claims, kind }: SignedToken, issuer: string, now: number): TokenFault {
  const { iss, exp } = claims;
  const fault = (reason: string, description: string): TokenFault => ({ reason, description, misuse: undefined });
  if (iss !== issuer) {
    return fault('of another issuer', `was issued under another base URL of this service, and it is ${issuer} now.`);
  }
  if (Number.isSafeInteger(exp) && Number(exp) > 0 && Number(exp) * SECOND <= now) {
    const at = new Date(Number(exp) * SECOND).toISOString().replace('.000', '');
    return fault(
      'expired',
      kind === 'access'
        ? `expired at ${at}. Get a new one with the refresh token.`
        : `expired at ${at}. Send the user through authorization again.`,
    );
  }
  const read = readAnyClaims(claims, kind, issuer, now);
  return read === undefined
    ? fault(
        'malformed',
        'does not have the claims of a token of this version. Send the user through authorization again.',
      )
    : audienceFault(read);
}

/** Why a valid access token is not for UserInfo. */
function audienceFault(token: VerifiedToken | VerifiedClientToken): TokenFault {
  const { accountId, clientId } = token;
  const isOfClient = accountId === null;
  const reason = isOfClient ? 'the token of a client itself' : 'a token for another place';
  const description = isOfClient
    ? 'was issued to the app itself (client_credentials), so it names no user. Use one from the authorization code flow.'
    : `is for ${token.audience.join(', ')}. For UserInfo, get one without the parameter resource.`;
  return { reason, description, misuse: { type: 'token.wrong_kind', accountId, clientId, details: { reason } } };
}
