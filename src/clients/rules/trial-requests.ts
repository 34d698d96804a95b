import { ENDPOINT_RULES, type EndpointSet } from '../../claims/endpoint-set.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import { shellWord } from '../../platform/shell.ts';
import { type AuthMethod, presentsSecret } from './registration.ts';

/** An app as it sends requests. */
interface TrialApp {
  readonly issuer: string;
  /** As it is on the wire. */
  readonly clientId: string;
  readonly type: 'confidential' | 'public';
  readonly tokenEndpointAuthMethod: AuthMethod | null;
  readonly endpointSet: EndpointSet;
}

/** What an app asks of a person who signs in, and the values that it makes for that. */
export interface Trial extends TrialApp {
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The scopes that a set of endpoints knows, of those that an app may request. `openid` needs no registration. */
export const trialScopes = (endpointSet: EndpointSet, registered: readonly string[]): readonly string[] => [
  'openid',
  ...registered.filter((scope) => scope !== 'openid' && ENDPOINT_RULES[endpointSet].scopes.includes(scope)),
];

/** The address that a browser opens to sign in to the app: RFC 6749 §4.1.1, RFC 7636 §4.3, OpenID Connect Core 1.0 §3.1.2.1. */
export function trialAuthorization(trial: Trial): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: trial.clientId,
    redirect_uri: trial.redirectUri,
    scope: trial.scopes.join(' '),
    state: trial.state,
    ...(trial.scopes.includes('openid') && { nonce: trial.nonce }),
    code_challenge: digest(trial.verifier),
    code_challenge_method: 'S256',
  });
  return `${trial.issuer}${ENDPOINT_RULES[trial.endpointSet].authorizationPath}?${query}`;
}

/** How the app proves itself: the variables of a shell that are to be set, and the arguments of curl. */
function authentication(app: TrialApp): { readonly variables: readonly string[]; readonly words: readonly string[] } {
  const { clientId, tokenEndpointAuthMethod: method } = app;
  const named = `-d ${shellWord(`client_id=${encodeURIComponent(clientId)}`)}`;
  if (method === 'private_key_jwt') {
    const kind = encodeURIComponent('urn:ietf:params:oauth:client-assertion-type:jwt-bearer');
    return {
      variables: ["CLIENT_ASSERTION='a-jwt-signed-by-the-app'"],
      words: [named, `-d client_assertion_type=${kind}`, '-d "client_assertion=$CLIENT_ASSERTION"'],
    };
  }
  if (!presentsSecret(app)) return { variables: [], words: [named] };
  const variables = ["CLIENT_SECRET='the-client-secret'"];
  return method === 'client_secret_post'
    ? { variables, words: [named, '-d "client_secret=$CLIENT_SECRET"'] }
    : { variables, words: [`-u ${shellWord(`${clientId}:`)}"$CLIENT_SECRET"`] };
}

function tokenCommand(app: TrialApp, variables: readonly string[], parameters: readonly string[]): string {
  const proof = authentication(app);
  const address = shellWord(app.issuer + ENDPOINT_RULES[app.endpointSet].tokenPath);
  const words = [`curl -s ${address}`, ...proof.words, ...parameters];
  return [...variables, ...proof.variables, words.join(' \\\n  ')].join('\n');
}

/** The commands that exchange a code for tokens: RFC 6749 §4.1.3, RFC 7636 §4.5. */
export const trialExchange = (trial: Trial): string =>
  tokenCommand(
    trial,
    ["CODE='the-code'"],
    [
      '-d grant_type=authorization_code',
      '-d "code=$CODE"',
      `-d ${shellWord(`redirect_uri=${encodeURIComponent(trial.redirectUri)}`)}`,
      `-d ${shellWord(`code_verifier=${trial.verifier}`)}`,
    ],
  );

/** The commands that get the app a token of its own: RFC 6749 §4.4.2. */
export const trialOwnToken = (app: TrialApp): string => tokenCommand(app, [], ['-d grant_type=client_credentials']);

/** The commands that ask who signed in: OpenID Connect Core 1.0 §5.3.1. */
export const trialUserInfo = ({ issuer, endpointSet }: TrialApp): string =>
  [
    "ACCESS_TOKEN='the-access-token'",
    `curl -s ${shellWord(issuer + ENDPOINT_RULES[endpointSet].userinfoPath)} -H "Authorization: Bearer $ACCESS_TOKEN"`,
  ].join('\n');
