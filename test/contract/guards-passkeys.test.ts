// store: SQLite, PostgreSQL with --all
/** New passkeys that come with a statement about the authenticator, for which nobody asked: decisions §11. */
import assert from 'node:assert/strict';
import { createHash, sign, X509Certificate } from 'node:crypto';
import { after, test } from 'node:test';
import { verifyRegistrationResponse } from '@simplewebauthn/server';
import { convertCOSEtoPKCS, decodeAttestationObject, isoCBOR } from '@simplewebauthn/server/helpers';
import { userHandleOf } from '../../src/account-actions/authentication/passkey.ts';
import { agent } from '../support/agent.ts';
import { authenticatorCertificate, authenticatorCertificateKey } from '../support/certificate.ts';
import { newUser, signedIn } from '../support/flow.ts';
import { passkeyForm, passkeyOptions, usePasskey } from '../support/passkeys.ts';
import { startServer } from '../support/server.ts';
import { type SoftAuthenticator, softAuthenticator } from '../support/soft-authenticator.ts';

const server = await startServer();
after(() => server.close());

const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();
const signed = (...parts: readonly Uint8Array[]): Uint8Array =>
  new Uint8Array(sign('sha256', Buffer.concat(parts), authenticatorCertificateKey));
const x5c = [new Uint8Array(new X509Certificate(authenticatorCertificate).raw)];

/** What a statement of each format is about: Web Authentication Level 3 §§8.2 and 8.6. */
interface Subject {
  readonly authData: Uint8Array;
  readonly clientData: Uint8Array;
  readonly authenticator: SoftAuthenticator;
}

type Statement = readonly (readonly [string, unknown])[];

/** Statements that are right in themselves, each with a certificate that nobody here knows. */
const statements: Readonly<Record<string, (subject: Subject) => Statement>> = {
  packed: ({ authData, clientData }) => [
    ['alg', -7],
    ['sig', signed(authData, sha256(clientData))],
    ['x5c', x5c],
  ],
  'fido-u2f': ({ authData, clientData, authenticator }) => {
    const id = Buffer.from(authenticator.id, 'base64url');
    const key = convertCOSEtoPKCS(new Uint8Array(authenticator.publicKey));
    return [
      ['sig', signed(Uint8Array.of(0), authData.subarray(0, 32), sha256(clientData), id, key)],
      ['x5c', x5c],
    ];
  },
};

/** The JSON of a new credential with a statement in it. */
function withStatement(created: string, format: string, authenticator: SoftAuthenticator): string {
  const credential = JSON.parse(created);
  const { attestationObject, clientDataJSON } = credential.response;
  const authData = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url'))).get('authData');
  const clientData = Buffer.from(clientDataJSON, 'base64url');
  const statement = statements[format]?.({ authData, clientData, authenticator }) ?? assert.fail(format);
  const attestation = new Map<string, unknown>([
    ['fmt', format],
    ['attStmt', new Map(statement)],
    ['authData', authData],
  ]);
  const encoded = Buffer.from(isoCBOR.encode(attestation as never)).toString('base64url');
  return JSON.stringify({ ...credential, response: { ...credential.response, attestationObject: encoded } });
}

for (const format of Object.keys(statements)) {
  test(`a passkey with a certificate of its authenticator (${format}) is added without it: none was asked for`, async () => {
    const user = await newUser(server);
    const browser = await signedIn(server, user);
    const options = await passkeyOptions(browser, '/account/security/passkeys/new');
    const authenticator = softAuthenticator(server.baseUrl, userHandleOf(user.id));
    const created = authenticator.create(options);
    const passkey = withStatement(created, format, authenticator);
    const { hostname, origin } = new URL(server.baseUrl);
    const { verified } = await verifyRegistrationResponse({
      response: JSON.parse(passkey),
      expectedChallenge: options.challenge,
      expectedOrigin: origin,
      expectedRPID: hostname,
    });
    assert.ok(verified, 'the statement is right');

    await passkeyForm(browser, { action: 'add', passkey });
    assert.equal((await usePasskey(agent(server.baseUrl), authenticator)).status, 303);
  });
}
