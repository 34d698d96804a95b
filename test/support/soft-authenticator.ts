import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';

/** What a test may forge in a response. */
export interface Forgery {
  readonly challenge?: string;
  readonly origin?: string;
  readonly rpId?: string;
  readonly type?: string;
  readonly counter?: number;
  readonly userVerified?: boolean;
  readonly userPresent?: boolean;
  readonly backedUp?: boolean;
  readonly crossOrigin?: boolean;
  readonly userHandle?: string;
  /** The id of another credential. */
  readonly id?: string;
  /** An attestation statement, and its format. */
  readonly format?: string;
  readonly statement?: ReadonlyMap<string, unknown>;
}

/** An authenticator that answers prompts as a browser would pass them on. */
export interface SoftAuthenticator {
  readonly id: string;
  /** COSE, as octets. */
  readonly publicKey: Uint8Array;
  /** The JSON of a new credential. */
  create(options: { readonly challenge: string }, forged?: Forgery): string;
  /** The JSON of an assertion. */
  use(options: { readonly challenge: string }, forged?: Forgery): string;
}

const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest();
const url64 = (data: Uint8Array): string => Buffer.from(data).toString('base64url');

/**
 * @param baseUrl the service whose pages ask
 * @param userHandle that of the account, as base64url
 */
export function softAuthenticator(baseUrl: string, userHandle: string): SoftAuthenticator {
  const { hostname, origin } = new URL(baseUrl);
  const { privateKey, publicKey: key } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  const cose: [number, number | Uint8Array][] = [
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
    [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
  ];
  const publicKey = isoCBOR.encode(new Map(cose) as never);
  const rawId = randomBytes(32);
  let counter = 0;

  const clientData = (type: string, challenge: string, forged: Forgery): Buffer =>
    Buffer.from(
      JSON.stringify({
        type: forged.type ?? type,
        challenge: forged.challenge ?? challenge,
        origin: forged.origin ?? origin,
        crossOrigin: forged.crossOrigin ?? false,
      }),
    );

  function authenticatorData(forged: Forgery, attested?: Buffer): Buffer {
    const { userVerified = true, userPresent = true, backedUp = false } = forged;
    const flags =
      (userPresent ? 0x01 : 0) |
      (userVerified ? 0x04 : 0) |
      (backedUp ? 0x18 : 0) |
      (attested === undefined ? 0 : 0x40);
    counter = forged.counter ?? counter + 1;
    const head = Buffer.alloc(37);
    sha256(forged.rpId ?? hostname).copy(head);
    head[32] = flags;
    head.writeUInt32BE(counter, 33);
    return attested === undefined ? head : Buffer.concat([head, attested]);
  }

  const credential = (response: Record<string, unknown>, id = url64(rawId)): string =>
    JSON.stringify({ id, rawId: id, type: 'public-key', clientExtensionResults: {}, response });

  return {
    id: url64(rawId),
    publicKey,
    create({ challenge }, forged = {}) {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(rawId.length);
      const attested = Buffer.concat([Buffer.alloc(16), length, rawId, publicKey]);
      const authData = new Uint8Array(authenticatorData(forged, attested));
      const attestation = new Map<string, unknown>([
        ['fmt', forged.format ?? 'none'],
        ['attStmt', forged.statement ?? new Map()],
        ['authData', authData],
      ]);
      return credential({
        clientDataJSON: url64(clientData('webauthn.create', challenge, forged)),
        attestationObject: url64(isoCBOR.encode(attestation as never)),
        transports: ['internal', 'hybrid', 'nonsense'],
      });
    },
    use({ challenge }, forged = {}) {
      const data = clientData('webauthn.get', challenge, forged);
      const authData = authenticatorData(forged);
      const response = {
        clientDataJSON: url64(data),
        authenticatorData: url64(authData),
        signature: url64(sign('sha256', Buffer.concat([authData, sha256(data)]), privateKey)),
        userHandle: forged.userHandle ?? userHandle,
      };
      return credential(response, forged.id);
    },
  };
}
