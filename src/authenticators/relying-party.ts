import { isIP } from 'node:net';
import type { ChallengeUse } from './rules/passkey-challenge.ts';
import { judgePasskeyChallenge } from './rules/passkey-challenge.ts';

/** This service, as authenticators know it. */
export interface RelyingParty {
  /** The host of the base URL. A passkey is bound to it for ever. */
  readonly id: string;
  /** The origin of the pages that may use a passkey. */
  readonly origin: string;
  readonly challengeKey: Buffer;
}

/** @returns undefined where the base URL has an IP address for a host: browsers have no passkeys there */
export function relyingPartyOf(baseUrl: string, challengeKey: Buffer): RelyingParty | undefined {
  const { hostname, origin } = new URL(baseUrl);
  return isIP(hostname.replaceAll(/[[\]]/g, '')) === 0 ? { id: hostname, origin, challengeKey } : undefined;
}

/** Why a response of an authenticator was refused. */
export type PasskeyProblem =
  /** The prompt was open for too long, or its challenge was used before. */
  | 'expired'
  /** The authenticator did not verify the person. */
  | 'not verified'
  /** Anything that no browser sends. */
  | 'invalid';

/** An assertion whose signature was verified. */
export interface VerifiedAssertion {
  readonly challenge: string;
  readonly counter: number;
  readonly backedUp: boolean;
}

/** A credential that an authenticator has just created. */
export interface VerifiedRegistration {
  readonly challenge: string;
  readonly id: string;
  readonly publicKey: Uint8Array;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly aaguid: string;
  readonly backupEligible: boolean;
  readonly backedUp: boolean;
}

/** The JSON of a `PublicKeyCredential` as far as it is read here: the library reads the rest. */
interface CredentialJson {
  readonly id: string;
  readonly response: { readonly clientDataJSON: string; readonly userHandle?: unknown; readonly transports?: unknown };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Reads what a form sent; undefined where that is not the JSON of a credential. */
export function parseCredential(text: string): CredentialJson | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value) || typeof value['id'] !== 'string' || !/^[A-Za-z0-9_-]{1,1400}$/.test(value['id'])) {
    return undefined;
  }
  const { response } = value;
  if (!isRecord(response) || typeof response['clientDataJSON'] !== 'string') return undefined;
  return value as unknown as CredentialJson;
}

/** The challenge that a response answers, judged; a problem where it may not be used here. */
function readChallenge(
  { challengeKey }: RelyingParty,
  use: ChallengeUse,
  { response }: CredentialJson,
  now: number,
): { readonly challenge: string } | PasskeyProblem {
  let data: unknown;
  try {
    data = JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString('utf8'));
  } catch {
    return 'invalid';
  }
  // The pages are never framed, so a response from a frame is not from one of them.
  if (!isRecord(data) || typeof data['challenge'] !== 'string' || data['crossOrigin'] === true) return 'invalid';
  const verdict = judgePasskeyChallenge(challengeKey, use, data['challenge'], now);
  if (verdict !== 'valid') return verdict === 'expired' ? 'expired' : 'invalid';
  return { challenge: data['challenge'] };
}

/** The flags of an authenticator's data (Web Authentication Level 3 §6.1), by their bit. */
const USER_VERIFIED = 0x04;

/** Whether the authenticator says that it verified the person; undefined where there is no such data. */
function isUserVerified(authenticatorData: unknown): boolean | undefined {
  if (typeof authenticatorData !== 'string') return undefined;
  const flags = Buffer.from(authenticatorData, 'base64url')[32];
  return flags === undefined ? undefined : (flags & USER_VERIFIED) !== 0;
}

/**
 * Verifies that an authenticator signed a challenge of this server with a key.
 * @param key the public key that is on record
 */
export async function verifyAssertion(
  party: RelyingParty,
  use: ChallengeUse,
  credential: CredentialJson,
  key: { readonly id: string; readonly publicKey: Uint8Array },
  now: number,
): Promise<VerifiedAssertion | PasskeyProblem> {
  const read = readChallenge(party, use, credential, now);
  if (typeof read === 'string') return read;
  const { authenticatorData } = credential.response as { authenticatorData?: unknown };
  if (isUserVerified(authenticatorData) === false) return 'not verified';
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: credential as never,
      expectedChallenge: read.challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      // A counter that goes back is recorded, and refuses nothing: see `counterWentBack`.
      credential: { id: key.id, publicKey: new Uint8Array(key.publicKey), counter: 0 },
      requireUserVerification: true,
    });
    if (!verified) return 'invalid';
    const { newCounter: counter, credentialBackedUp: backedUp } = authenticationInfo;
    return { ...read, counter, backedUp };
  } catch {
    // The library throws for whatever is wrong with a response.
    return 'invalid';
  }
}

/** Verifies that an authenticator created a credential for a challenge of this server. */
export async function verifyRegistration(
  party: RelyingParty,
  use: ChallengeUse,
  credential: CredentialJson,
  now: number,
): Promise<VerifiedRegistration | PasskeyProblem> {
  const read = readChallenge(party, use, credential, now);
  if (typeof read === 'string') return read;
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const { decodeAttestationObject, isoCBOR } = await import('@simplewebauthn/server/helpers');
  try {
    const { attestationObject } = credential.response as unknown as { attestationObject: string };
    const attestation = decodeAttestationObject(Buffer.from(attestationObject, 'base64url'));
    // Web Authentication Level 3 §7.1: some authenticators send a statement although none is asked for. It is neither believed nor a reason
    // to refuse the key, and to check it, the library would fetch what its certificates name.
    const authData = attestation.get('authData');
    const unattested = isoCBOR.encode(
      new Map<string, string | Uint8Array | Map<string, string>>([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]),
    );
    if (isUserVerified(Buffer.from(authData).toString('base64url')) === false) return 'not verified';
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...credential,
        response: { ...credential.response, attestationObject: Buffer.from(unattested).toString('base64url') },
      } as never,
      expectedChallenge: read.challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
    });
    if (!verified) return 'invalid';
    const { credential: created, aaguid, credentialDeviceType, credentialBackedUp } = registrationInfo;
    return {
      ...read,
      id: created.id,
      publicKey: created.publicKey,
      counter: created.counter,
      transports: knownTransports(credential.response.transports),
      aaguid,
      backupEligible: credentialDeviceType === 'multiDevice',
      backedUp: credentialBackedUp,
    };
  } catch {
    return 'invalid';
  }
}

const TRANSPORTS: readonly unknown[] = ['ble', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'];

/** The transports that a browser names: a hint for later prompts, of which only known ones are kept. */
const knownTransports = (sent: unknown): string[] =>
  Array.isArray(sent) ? TRANSPORTS.filter((known) => sent.includes(known)).map(String) : [];
