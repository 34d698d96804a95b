import { importPKCS8, SignJWT } from 'jose';
import type { ClientAuth } from 'oauth4webapi';
import { MINUTE, SECOND } from '../../platform/clock.ts';
import type {
  ProviderAttempt,
  ProviderClient,
  ProviderQuestion,
  ProviderReturn,
  ProviderServices,
  UpstreamKind,
} from '../kind.ts';
import { probeProvider } from '../probe.ts';
import { UpstreamRefusal } from '../refusal.ts';
import { appleName } from '../rules/apple-name.ts';
import type { UpstreamPerson } from '../rules/id-token.ts';
import { finishWith, oidc } from './oidc.ts';

/**
 * Apple: an OpenID Provider that sends its response as a form where it is asked for a name or an address, and takes a JWT that is signed
 * with our private key for a client secret.
 */
export const apple: UpstreamKind = { responseMode: 'form_post', asksAgain: true, begin, finish, probe };

/** How long a client secret is valid: it is made for one request. Apple allows six months. */
const SECRET_LIFETIME = 5 * MINUTE;

async function begin(
  services: ProviderServices,
  client: ProviderClient,
  attempt: ProviderAttempt,
  question: ProviderQuestion,
): Promise<string> {
  const url = new URL(await oidc.begin(services, client, attempt, question));
  url.searchParams.set('response_mode', 'form_post');
  return url.href;
}

async function finish(
  services: ProviderServices,
  client: ProviderClient,
  attempt: ProviderAttempt,
  back: ProviderReturn,
): Promise<UpstreamPerson> {
  const person = await finishWith(services, client, attempt, back, ({ issuer }) =>
    clientAuthentication(services, client, issuer),
  );
  // Only the form has the name, and only at the first sign-in. Nothing signs it: it is a proposal.
  return { ...person, name: person.name ?? appleName(back.callback.get('user')) };
}

async function clientAuthentication(
  { clock }: Pick<ProviderServices, 'clock'>,
  { clientId, clientSecret, signer }: ProviderClient,
  audience: string,
): Promise<ClientAuth> {
  const oauth = await import('oauth4webapi');
  if (clientSecret === null || signer === null) {
    throw new UpstreamRefusal('token endpoint', 'The private key is missing: no client secret can be made.');
  }
  const seconds = Math.floor(clock() / SECOND);
  const secret = await new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: signer.keyId })
    .setIssuer(signer.teamId)
    .setSubject(clientId)
    .setAudience(audience)
    .setIssuedAt(seconds)
    .setExpirationTime(seconds + SECRET_LIFETIME / SECOND)
    .sign(await importPKCS8(clientSecret, 'ES256'));
  return oauth.ClientSecretPost(secret);
}

function probe(services: ProviderServices, client: ProviderClient, redirectUri: string) {
  return probeProvider(services, client.issuer, (attempt, callback) =>
    finish(services, client, attempt, { callback, redirectUri, state: callback.get('state') ?? '' }),
  );
}
