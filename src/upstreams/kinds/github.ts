import type { AuthorizationServer } from 'oauth4webapi';
import { digest } from '../../platform/crypto/secrets.ts';
import { guardedFetch, reasonOf } from '../guarded-fetch.ts';
import type {
  ProviderAttempt,
  ProviderClient,
  ProviderQuestion,
  ProviderReturn,
  ProviderServices,
  UpstreamKind,
} from '../kind.ts';
import { probeClient } from '../probe.ts';
import { redeemAtProvider } from '../redeem.ts';
import { UpstreamRefusal } from '../refusal.ts';
import { mapClaims } from '../rules/claims-map.ts';
import { membersOf, readGithubPerson } from '../rules/github-person.ts';
import type { UpstreamPerson } from '../rules/id-token.ts';
import type { ProbeStep } from '../rules/probe-step.ts';

/** GitHub, and GitHub Enterprise at its base URL: OAuth 2.0 without an ID token. The API says who signed in. */
export const github: UpstreamKind = { responseMode: 'query', asksAgain: false, begin, finish, probe };

/** A person may have many addresses. */
const LONGEST_ANSWER = 256 * 1024;

/** The base URL, also where it was registered with a slash at its end. */
const baseOf = ({ issuer }: ProviderClient): string => issuer.replace(/\/$/, '');

/** GitHub has no metadata document. It names itself in its responses by another URL than its base (RFC 9207). */
function metadataOf(client: ProviderClient): AuthorizationServer & { readonly authorization_endpoint: string } {
  const issuer = `${baseOf(client)}/login/oauth`;
  return { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/access_token` };
}

/** github.com and its enterprises with data residency have their API at a host of its own, servers of an enterprise below a path. */
function apiOf(client: ProviderClient): string {
  const base = baseOf(client);
  const { protocol, host } = new URL(base);
  const isHosted = host === 'github.com' || host.endsWith('.ghe.com');
  return isHosted ? `${protocol}//api.${host}` : `${base}/api/v3`;
}

async function begin(
  _services: ProviderServices,
  client: ProviderClient,
  { verifier, maxAge, notBefore }: ProviderAttempt,
  { redirectUri, state, prompt, loginHint }: ProviderQuestion,
): Promise<string> {
  if (maxAge !== null || notBefore !== null) {
    throw new UpstreamRefusal(
      'unable',
      'GitHub cannot be asked for a new sign-in, and does not say when the last one was.',
    );
  }
  const url = new URL(metadataOf(client).authorization_endpoint);
  const parameters = {
    response_type: 'code',
    client_id: client.clientId,
    redirect_uri: redirectUri,
    scope: client.scopes.join(' '),
    state,
    // RFC 7636 §4.2: BASE64URL(SHA256(verifier)).
    code_challenge: digest(verifier),
    code_challenge_method: 'S256',
    ...(prompt === 'select_account' && { prompt }),
    ...(loginHint !== null && { login: loginHint }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

async function finish(
  services: ProviderServices,
  client: ProviderClient,
  attempt: ProviderAttempt,
  back: ProviderReturn,
): Promise<UpstreamPerson> {
  const accessToken = await redeem(services, client, attempt, back);
  const user = await askApi(services, client, '/user', accessToken);
  if (user.status !== 200) throw unreadable(`/user answered with the status ${user.status}`);
  // An app without the permission for addresses gets none: they are proposals, and the sign-in goes on.
  const emails = await askApi(services, client, '/user/emails?per_page=100', accessToken);
  const known = emails.status === 200 ? emails.body : undefined;
  const person = readGithubPerson(client.issuer, user.body, known, services.clock());
  if ('problem' in person) throw unreadable(person.problem);
  const mapped = mapClaims(membersOf(user.body), client.claimsMap);
  if ('problem' in mapped) throw unreadable(mapped.problem);
  return { ...person, mapped };
}

const unreadable = (reason: string): UpstreamRefusal => new UpstreamRefusal('token', `GitHub's API: ${reason}.`);

async function redeem(
  services: ProviderServices,
  client: ProviderClient,
  { verifier }: ProviderAttempt,
  back: ProviderReturn,
): Promise<string> {
  const oauth = await import('oauth4webapi');
  const authentication = oauth.ClientSecretPost(client.clientSecret ?? '');
  const { accessToken } = await redeemAtProvider(services, metadataOf(client), {
    ...{ ...back, client, authentication, verifier },
    // It answers with the status 200 to what it refuses.
    rewrite: (status, members) => ({ status: typeof members['error'] === 'string' ? 400 : status, members }),
  });
  return accessToken;
}

async function askApi(
  { outgoing }: ProviderServices,
  client: ProviderClient,
  path: string,
  accessToken: string,
): Promise<{ readonly status: number; readonly body: unknown }> {
  try {
    const response = await guardedFetch(outgoing, LONGEST_ANSWER)(`${apiOf(client)}${path}`, {
      method: 'GET',
      headers: {
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${accessToken}`,
        'user-agent': 'Tessera',
      },
      body: undefined,
      redirect: 'manual',
    });
    return { status: response.status, body: await response.json().catch(() => undefined) };
  } catch (error) {
    throw new UpstreamRefusal('token endpoint', `GitHub's API: ${await reasonOf(error)}.`);
  }
}

async function probe(
  services: ProviderServices,
  client: ProviderClient,
  redirectUri: string,
): Promise<readonly ProbeStep[]> {
  const back = { redirectUri, state: 'test' };
  return [
    await probeClient(metadataOf(client), (attempt, callback) =>
      redeem(services, client, attempt, { ...back, callback }),
    ),
    {
      step: 'metadata',
      level: 'warning',
      found: 'GitHub has no back-channel logout: what it ends goes on here until the next sign-in.',
    },
  ];
}
