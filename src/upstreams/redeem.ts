import type { AuthorizationServer, Client, ClientAuth } from 'oauth4webapi';
import { guardedFetch, quoted, reasonOf } from './guarded-fetch.ts';
import type { ProviderClient, ProviderReturn, ProviderServices } from './kind.ts';
import { UpstreamRefusal } from './refusal.ts';

const LONGEST_TOKEN_RESPONSE = 64 * 1024;

/** In seconds. The library would read the clock of the system: `rules/` check the times, by the clock of the service. */
const ANY_TIME = 1e10;

/** The errors with which a person said no: RFC 6749 §4.1.2.1, and Apple's. */
const CANCELLED: readonly string[] = ['access_denied', 'user_cancelled_authorize'];

/** What a token endpoint answered. */
export interface ProviderTokens {
  readonly accessToken: string;
  readonly idToken: string | undefined;
}

interface Redemption extends ProviderReturn {
  readonly client: Pick<ProviderClient, 'clientId'>;
  readonly authentication: ClientAuth;
  readonly verifier: string;
  /** What the library cannot read as it is, by the status and the members of the response. */
  readonly rewrite?: (status: number, members: ResponseMembers) => { status: number; members: ResponseMembers };
}

type ResponseMembers = Readonly<Record<string, unknown>>;

/**
 * Checks the response that a browser brought back, and redeems its code (RFC 6749 §4.1.2 to §4.1.4, RFC 7636, RFC 9207).
 * @throws {UpstreamRefusal}
 */
export async function redeemAtProvider(
  { outgoing, local }: Pick<ProviderServices, 'outgoing' | 'local'>,
  metadata: AuthorizationServer,
  { client, authentication, verifier, callback, redirectUri, state, rewrite }: Redemption,
): Promise<ProviderTokens> {
  const oauth = await import('oauth4webapi');
  const own: Client = { client_id: client.clientId, [oauth.clockTolerance]: ANY_TIME };
  const checked = await checkResponse(metadata, own, callback, state);
  const ask = guardedFetch(outgoing, LONGEST_TOKEN_RESPONSE);
  const options = { [oauth.customFetch]: ask, [oauth.allowInsecureRequests]: local };
  try {
    const answer = await oauth.authorizationCodeGrantRequest(
      ...([metadata, own, authentication, checked, redirectUri, verifier, options] as const),
    );
    const response = rewrite === undefined ? answer : await rewritten(answer, rewrite);
    const tokens = await oauth.processGenericTokenEndpointResponse(metadata, own, response);
    return { accessToken: tokens.access_token, idToken: tokens.id_token };
  } catch (error) {
    const code = error instanceof oauth.ResponseBodyError ? error.error : undefined;
    throw new UpstreamRefusal('token endpoint', `The token endpoint: ${await reasonOf(error)}.`, code);
  }
}

/** RFC 6749 §4.1.2, and `iss` against mix-up (RFC 9207). */
async function checkResponse(metadata: AuthorizationServer, own: Client, callback: URLSearchParams, state: string) {
  const oauth = await import('oauth4webapi');
  try {
    return oauth.validateAuthResponse(metadata, own, callback, state);
  } catch (error) {
    if (error instanceof oauth.AuthorizationResponseError) {
      const about = error.error_description === undefined ? '' : `, ${quoted(error.error_description)}`;
      const kind = CANCELLED.includes(error.error) ? 'cancelled' : 'denied';
      throw new UpstreamRefusal(kind, `The upstream answered with the error ${quoted(error.error)}${about}.`);
    }
    throw new UpstreamRefusal('response', `The response is refused: ${await reasonOf(error)}.`);
  }
}

async function rewritten(response: Response, rewrite: NonNullable<Redemption['rewrite']>): Promise<Response> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  if (typeof body !== 'object' || body === null) return response;
  const { status, members } = rewrite(response.status, { ...body });
  return Response.json(members, { status });
}
