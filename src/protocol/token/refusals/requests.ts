import { ENDPOINT_RULES } from '../../../claims/endpoint-set.ts';
import { DEVICE_GRANT, GRANT_TYPES } from '../../../clients/rules/registration.ts';
import type { Client } from '../../../clients/store.ts';
import { nearestText } from '../../../platform/nearest-text.ts';
import { type AboutCredential, recorded, row } from '../../refusals/row.ts';

const OTHER_GRANT = 'a grant or endpoint that the client may not use';

/** RFC 7523 §2.1: its assertion stands for a person, and in place of the client's own authentication. */
export const ASSERTION_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

/** Grants of other services. Only these names are repeated in an answer. */
const BY_CODE =
  'Send the user to the authorization endpoint, and exchange the code with grant_type=authorization_code.';
/** Grants that are often asked for: why they are refused, and what to do. */
const OTHER_GRANTS: Readonly<Record<string, string>> = {
  password: `password is not offered: people give their password to this service alone. ${BY_CODE}`,
  implicit: `implicit is not offered: tokens are not sent in redirects. ${BY_CODE}`,
  code: 'code is a response_type: to exchange a code, send grant_type=authorization_code.',
  device_code: `device_code is not the whole name: send grant_type=${DEVICE_GRANT}.`,
  'urn:ietf:params:oauth:grant-type:token-exchange':
    'Tokens are not exchanged for others here. To call an API for a person, send its resource in the authorization request; to call it as the app, send grant_type=client_credentials.',
  [ASSERTION_GRANT]:
    'This grant is not offered. To sign in an app by a key, send grant_type=client_credentials with client_assertion.',
};
function adviceFor(grantType: string): string | undefined {
  if (Object.hasOwn(OTHER_GRANTS, grantType)) return OTHER_GRANTS[grantType];
  const sameLetters = GRANT_TYPES.find((name) => name.toLowerCase() === grantType.toLowerCase());
  if (sameLetters !== undefined) return `It is case-sensitive: send grant_type=${sameLetters}.`;
  const nearest = nearestText(grantType.toLowerCase(), GRANT_TYPES);
  return nearest && `Did you mean ${nearest}?`;
}

/** A grant that was sent, where it looks like the name of one. */
const shownGrant = (grantType: string): string =>
  /^[A-Za-z][\w:.-]{0,79}$/.test(grantType) ? `grant_type=${grantType}` : 'a grant_type that no grant has as its name';

const requested = (resources: readonly string[]): string =>
  resources.map((resource) => `resource=${resource}`).join(' ');

interface AboutClient extends AboutCredential {
  readonly clientId: string;
}

interface RegisteredGrants extends AboutCredential {
  readonly client: Pick<Client, 'id' | 'grantTypes' | 'metadataUrl'>;
  readonly grantType: string;
}

function remedyForGrant({ client: { id, grantTypes, metadataUrl }, grantType }: RegisteredGrants): string {
  // The one of the command line itself, which has its grant whether or not that is on.
  if (grantTypes.some((name) => name === grantType))
    return 'Switch sign-in by the command line on: TESSERA_COMMAND_LINE_SIGN_IN=on';
  if (metadataUrl !== null) return 'Add the grant to grant_types in the metadata document of the app.';
  return `Add the grant: tessera client update ${id} ${[...grantTypes, grantType].map((name) => `--grant-type ${name}`).join(' ')}`;
}

interface RequestedResources extends AboutCredential {
  readonly requested: readonly string[];
  /** Those of the authorization request; null where it named none. */
  readonly granted: readonly string[] | null;
  /** A registered resource that is spelled almost like one of the request. */
  readonly nearest?: string | undefined;
}

/** A resource of the authorization request that one of this request is a misspelling of. */
function meantResource({ requested: sent, granted }: RequestedResources): string | undefined {
  return granted?.find((known) =>
    sent.some((resource) => !granted.includes(resource) && nearestText(resource, [known])),
  );
}

function remedyForResource(facts: RequestedResources): string {
  const meant = meantResource(facts);
  return meant === undefined
    ? `Have the app add ${requested(facts.requested)} to its authorization request, or leave resource out here.`
    : `Have the app send resource=${meant}`;
}

const RESOURCES: RequestedResources = { requested: ['https://api.example.com/'], granted: null };

/** Of what a request asks for: its grant and its resources. */
export const REQUESTS = {
  'unknown grant type': row<AboutCredential & { readonly grantType: string }>({
    when: 'The grant is not one of this service.',
    app: {
      error: 'unsupported_grant_type',
      description: ({ grantType }) =>
        [`grant_type must be one of ${GRANT_TYPES.join(', ')}.`, adviceFor(grantType)].filter(Boolean).join(' '),
    },
    operator: {
      trace: ({ grantType }) => ({
        rule: 'RFC 6749 §5.2',
        expected: `grant_type of ${GRANT_TYPES.join(', ')}`,
        received: shownGrant(grantType),
        remedy: adviceFor(grantType) ?? 'Send one of these.',
      }),
    },
    example: { grantType: 'password' },
  }),
  // RFC 6749 §5.2, TK-08.
  'grant type not registered': row<RegisteredGrants>({
    when: 'The client is not registered for the grant.',
    app: {
      error: 'unauthorized_client',
      description: ({ grantType }) =>
        `The client is not registered for the grant ${grantType}. Add it to grantTypes of its registration.`,
    },
    operator: {
      ...recorded(OTHER_GRANT),
      trace: (facts) => ({
        rule: 'RFC 6749 §5.2',
        expected: `a grant of the registration: ${facts.client.grantTypes.join(', ')}`,
        received: facts.grantType,
        remedy: remedyForGrant(facts),
      }),
    },
    example: {
      client: { id: 'CLIENT_ID', grantTypes: ['authorization_code'], metadataUrl: null },
      grantType: 'client_credentials',
    },
  }),
  'endpoints not registered': row<AboutCredential & { readonly client: Pick<Client, 'id' | 'endpoints'> }>({
    when: 'The client is registered for the other set of endpoints only.',
    app: {
      error: 'unauthorized_client',
      description: ({ client: { endpoints } }) =>
        `The client is registered for ${endpoints.map((name) => ENDPOINT_RULES[name].tokenPath).join(' and ')} only: send the request there, or change endpoints of its registration.`,
    },
    operator: {
      ...recorded(OTHER_GRANT),
      trace: ({ client: { id, endpoints } }) => ({
        expected: `a request to ${endpoints.map((name) => ENDPOINT_RULES[name].tokenPath).join(' or ')}`,
        received: 'a request to the other token endpoint',
        remedy: `Send the request there, or add the other endpoints: tessera client update ${id} --endpoints v2 --endpoints oidc`,
      }),
    },
    example: { client: { id: 'CLIENT_ID', endpoints: ['v2'] } },
  }),
  'malformed resource': row({
    when: 'A `resource` is not an absolute URI, or there are more than five.',
    app: {
      error: 'invalid_target',
      description:
        'resource must be an absolute URI without a fragment, and a request may have five at most: send the resource of a registered API.',
    },
    operator: {},
  }),
  'resource not granted': row<RequestedResources>({
    when: 'A `resource` was not part of the authorization request.',
    app: {
      error: 'invalid_target',
      description(facts) {
        const meant = meantResource(facts);
        return meant === undefined
          ? 'This resource was not part of the authorization request. Add resource to the authorization URL, then send the user through authorization again.'
          : `This resource was not part of the authorization request. Did you mean ${meant}? It must match exactly, character for character.`;
      },
    },
    operator: {
      ...recorded('a resource that was not granted'),
      trace: (facts) => ({
        rule: 'RFC 8707 §2.2',
        expected:
          facts.granted === null
            ? 'no resource: the authorization request named none'
            : `resources of the authorization request: ${facts.granted.join(', ')}`,
        received: requested(facts.requested),
        remedy: remedyForResource(facts),
      }),
    },
    example: RESOURCES,
  }),
  'resource no longer registered': row<RequestedResources>({
    when: 'A `resource` of the authorization is no longer registered.',
    app: {
      error: 'invalid_target',
      description:
        'A resource of this authorization is no longer registered. Send the user through authorization again, with a registered resource.',
    },
    operator: {
      ...recorded('a resource that is no longer registered'),
      trace: ({ requested: sent, granted }) => ({
        rule: 'RFC 8707 §2.2',
        expected: 'resources of active clients',
        received: requested(granted ?? sent),
        remedy: 'Enable or register the API again, with the same resource: tessera client list',
      }),
    },
    example: RESOURCES,
  }),
  'no scope at the resource': row({
    when: 'None of the granted scopes belongs to a `resource` of the request.',
    app: {
      error: 'invalid_scope',
      description:
        'None of the granted scopes is for this resource. Leave resource out, or request the scopes of this resource in the authorization request.',
    },
    operator: recorded('no scope at the resource'),
  }),
  'unknown resource': row<RequestedResources>({
    when: 'Client credentials: a `resource` is not registered.',
    app: {
      error: 'invalid_target',
      description: ({ nearest }) =>
        `Unknown resource.${nearest === undefined ? '' : ` Did you mean ${nearest}?`} It must match the registered resource of an API exactly, character for character.`,
    },
    operator: {
      ...recorded('a resource that is unknown'),
      trace: ({ requested: sent, nearest }) => ({
        rule: 'RFC 8707 §2',
        expected: nearest ?? 'resources of active clients, character for character',
        received: requested(sent),
        remedy:
          nearest === undefined
            ? 'Correct the app, or register the API: tessera client update CLIENT_ID --resource URI'
            : `Have the app send resource=${nearest}`,
      }),
    },
    example: RESOURCES,
  }),
  'client changed': row<AboutClient>({
    when: 'Client credentials and devices: the client was disabled, deleted or changed during the request.',
    app: {
      error: 'invalid_client',
      description:
        'Client authentication failed: the registration of the app was changed during this request. Send the request again.',
    },
    operator: {
      reason: 'the client was changed during the request',
      trace: ({ clientId }) => ({
        expected: 'an app that stays active and as it was when it authenticated',
        received: 'an app that was disabled, deleted or changed during the request',
        remedy: `Look at what was done to it: tessera events --client ${clientId}`,
      }),
    },
    example: { clientId: 'CLIENT_ID' },
  }),
  'scope without a user': row({
    when: 'Client credentials: `scope` has a scope about a person, or was sent to `/api/v2/oauth/token`.',
    app: {
      error: 'invalid_scope',
      description:
        'A request with client_credentials has no user, so scopes about a user, such as openid and profile, cannot be granted: leave scope out. Scopes of APIs are granted at /oidc/token only.',
    },
    operator: {
      trace: {
        expected: 'no scope, or scopes of APIs at /oidc/token',
        remedy:
          'Have the app leave scope out, or ask at /oidc/token for scopes of an API: tessera client api-scopes CLIENT_ID',
      },
    },
  }),
  'no scope of an API': row<AboutClient & { readonly scope: string; readonly allow?: string | undefined }>({
    when: 'Client credentials: no `scope` is one of an API that the client may request, or there are more than 50.',
    app: {
      error: 'invalid_scope',
      description: ({ clientId, scope }) =>
        `This app may not request ${scope.includes('/.default') ? 'a scope such as /.default, which another service has. Send the names of the scopes, as orders.read' : `any of these scopes${scope.length > 120 ? '' : ` (${scope})`}, or several APIs have a scope of this name. Send the resource of the API as well`}. The operator lists what it may request: tessera client api-scopes ${clientId}`,
    },
    operator: {
      ...recorded('no scope of an API'),
      trace: ({ clientId, scope, allow }) => ({
        expected: 'scopes of APIs that the app may request',
        received: `scope=${JSON.stringify(scope)}`,
        remedy: `${allow === undefined ? 'No API declares these scopes: correct their names, or have the API declare them.' : `Allow it: ${allow}.`} What the app may request: tessera client api-scopes ${clientId}`,
      }),
    },
    example: { clientId: 'CLIENT_ID', scope: 'notes.read' },
  }),
};
