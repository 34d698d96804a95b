import { ENDPOINT_RULES } from '../../claims/endpoint-set.ts';
import { formatScopes, parseResources } from '../../claims/permissions.ts';
import { adminResource, isCommandLine } from '../../clients/rules/command-line.ts';
import { DEVICE_GRANT } from '../../clients/rules/registration.ts';
import { findClient } from '../../clients/store.ts';
import { insertDevice } from '../../credentials/device-store.ts';
import { formatUserCode, USER_CODE_LENGTH, USER_CODE_LETTERS } from '../../credentials/rules/user-code.ts';
import { takeFrom, takeTogether } from '../../limits/limits.ts';
import { MINUTE, SECOND } from '../../platform/clock.ts';
import { digest, keyedDigest, randomCharacters, randomSecret } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Parameters } from '../../platform/http/parameters.ts';
import { OAuthError, rateLimited } from '../../platform/oauth-error.ts';
import { addressBucket, networkOf } from '../../platform/validation/origin.ts';
import { sentParameters } from '../../traces/rules/sent-parameters.ts';
import { findUnknownResource, readApiScopes } from '../authorize/registered-apis.ts';
import { checkScopes } from '../authorize/rules/check-scopes.ts';
import { describeWithoutEffect } from '../authorize/rules/ignored-parts.ts';
import { refuseByRedirect } from '../authorize/rules/refusals.ts';
import type { RedirectedError } from '../authorize/rules/request.ts';
import type { AuthenticatedClient } from '../client-authentication/authenticate.ts';
import { countRequest, type TokenServices } from '../token/grant.ts';
import { recordRefusal, refusal, refuseRequest } from '../token/refuse.ts';
import { POLL_INTERVAL } from '../token/rules/poll.ts';

/** How long a person has to answer a device: decisions §15. */
export const DEVICE_LIFETIME = 10 * MINUTE;

/** The page on which a person types the code of a device. */
export const VERIFICATION_PATH = '/device';

export interface DeviceServices extends TokenServices {
  /** Digests user codes: see {@link userCodeDigest}. */
  readonly userCodeKey: Buffer;
  /** Whether operators can sign in with the command line. */
  readonly commandLineSignIn: boolean;
}

/** The response of the device authorization endpoint: RFC 8628 §3.2. */
export interface DeviceAuthorization {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly expires_in: number;
  readonly interval: number;
}

export const DEVICE_AUTHORIZATION_PATH = '/oidc/device_authorization';

/** Under what a user code is stored. */
export const userCodeDigest = ({ userCodeKey }: Pick<DeviceServices, 'userCodeKey'>, userCode: string): string =>
  keyedDigest(userCodeKey, userCode);

const RULES = ENDPOINT_RULES.oidc;

/**
 * Answers a device that asks for access: RFC 8628 §3.1. There is no `verification_uri_complete`: a person who types the code has it
 * before their eyes, and a link that somebody sends them does nothing by itself (§5.4).
 * @throws {OAuthError} `rate_limit_exceeded`, `unauthorized_client`, `invalid_scope`, `invalid_target`
 */
export async function startDevice(
  services: DeviceServices,
  authenticated: AuthenticatedClient,
  parameters: Parameters,
): Promise<DeviceAuthorization> {
  const { client, origin } = authenticated;
  const now = services.clock();
  const refused = await services.database.commit(() => admit(services, authenticated, now));
  if (refused !== undefined) throw await recordRefusal(services, refused);

  const named = parseResources(parameters.all('resource'));
  if (named === undefined) throw refusal('malformed resource', {});
  const apis = await readApiScopes(services, parameters, client, RULES);
  const asked = checkScopes(parameters.get('scope'), client, RULES, named, apis);
  if ('kind' in asked) throw withoutRedirect('invalid_scope', asked);
  // Its tokens are for the admin API alone, and no other app gets such tokens.
  const own = isCommandLine(client) ? [adminResource(services.issuer)] : undefined;
  const resources = own ?? asked.resources;
  const unknown = own === undefined ? await findUnknownResource(services, resources) : undefined;
  if (unknown !== undefined) throw withoutRedirect('invalid_target', refuseByRedirect('resource unknown', unknown));

  const deviceCode = randomSecret();
  for (;;) {
    const userCode = randomCharacters(USER_CODE_LETTERS, USER_CODE_LENGTH);
    const device = {
      hash: digest(deviceCode),
      userCode: userCodeDigest(services, userCode),
      clientId: client.id,
      clientGeneration: client.generation,
      scopes: formatScopes(asked.scopes),
      resources: resources.length === 0 ? null : resources,
      network: networkOf(addressBucket(origin.address)),
      createdAt: now,
      expiresAt: now + DEVICE_LIFETIME,
      interval: POLL_INTERVAL,
    };
    const stored = await services.database.commit(function* store(): Work<boolean | undefined> {
      // The row refers to the client, which may have been deleted since it authenticated.
      return (yield* findClient({ id: client.id })) && (yield* insertDevice(device));
    });
    if (stored === undefined) throw refusal('client changed', { clientId: client.id });
    // Another device has the same code about once in 25 billion times.
    if (!stored) continue;
    services.traces.completed.push({
      at: now,
      requestId: origin.requestId,
      step: 'authorize',
      clientId: client.id,
      flow: device.hash,
      facts: {
        method: 'POST',
        path: DEVICE_AUTHORIZATION_PATH,
        description: 'A device asked for access, and got its codes.',
        sent: sentParameters(parameters),
        ignored: describeWithoutEffect({ get: (name) => parameters.get(name), names: [] }, asked, client, RULES, apis),
      },
    });
    return {
      device_code: deviceCode,
      user_code: formatUserCode(userCode),
      verification_uri: services.issuer + VERIFICATION_PATH,
      expires_in: DEVICE_LIFETIME / SECOND,
      interval: POLL_INTERVAL,
    };
  }
}

/** A refusal of the authorization endpoint, as the answer to the device itself. */
const withoutRedirect = (
  code: 'invalid_scope' | 'invalid_target',
  { description, reason, detail }: RedirectedError,
): OAuthError => new OAuthError(400, code, `${description}.`, {}, reason, detail);

/** Counts the request, and refuses a client that may not ask. */
function* admit(
  services: DeviceServices,
  authenticated: AuthenticatedClient,
  now: number,
): Work<OAuthError | undefined> {
  const { client, origin } = authenticated;
  const limited = yield* countRequest(services, authenticated, now);
  if (limited !== undefined) return limited;
  const isOff = isCommandLine(client) && !services.commandLineSignIn;
  if (isOff || !client.grantTypes.includes(DEVICE_GRANT)) {
    return yield* refuseRequest(authenticated, now, 'grant type not registered', { client, grantType: DEVICE_GRANT });
  }
  if (!client.endpoints.includes(RULES.endpointSet)) {
    return yield* refuseRequest(authenticated, now, 'endpoints not registered', { client });
  }
  const about = { name: 'deviceAddress', origin, clientId: client.id } as const;
  const seconds = yield* takeFrom('device', services.limits.deviceAddress, now, about, takeTogether);
  return seconds > 0 ? rateLimited(seconds) : undefined;
}
