import { ENDPOINT_RULES, type EndpointSet } from '../../../claims/endpoint-set.ts';
import { DEVICE_GRANT, GRANT_TYPES } from '../../../clients/rules/registration.ts';
import { nearestText } from '../../../platform/nearest-text.ts';
import { type AboutCredential, recorded, row } from '../../refusals/row.ts';

const OTHER_GRANT = 'a grant or endpoint that the client may not use';

/** Grants of other services. Only these names are repeated in an answer. */
const BY_CODE =
  'Send the user to the authorization endpoint, and exchange the code with grant_type=authorization_code.';
/** Grants that are often asked for: why they are refused, and what to do. */
const OTHER_GRANTS: Readonly<Record<string, string>> = {
  password: `password is not offered: people give their password to this service alone. ${BY_CODE}`,
  implicit: `implicit is not offered: tokens are not sent in redirects. ${BY_CODE}`,
  code: 'code is a response_type: to exchange a code, send grant_type=authorization_code.',
  device_code: `device_code is not the whole name: send grant_type=${DEVICE_GRANT}.`,
  'urn:ietf:params:oauth:grant-type:token-exchange': 'Tokens are not exchanged.',
  'urn:ietf:params:oauth:grant-type:jwt-bearer': 'Assertions authenticate clients only.',
};
const adviceFor = (grantType: string): string | undefined =>
  Object.hasOwn(OTHER_GRANTS, grantType)
    ? OTHER_GRANTS[grantType]
    : ((nearest) => nearest && `Did you mean ${nearest}?`)(nearestText(grantType, GRANT_TYPES));

const requested = (resources: readonly string[]): string =>
  resources.map((resource) => `resource=${resource}`).join(' ');

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
        received: 'another grant_type',
        remedy: adviceFor(grantType) ?? 'Send one of these.',
      }),
    },
    example: { grantType: 'password' },
  }),
  // RFC 6749 §5.2, TK-08.
  'grant type not registered': row<AboutCredential & { readonly grantType: string }>({
    when: 'The client is not registered for the grant.',
    app: {
      error: 'unauthorized_client',
      description: ({ grantType }) =>
        `The client is not registered for the grant ${grantType}. Add it to grantTypes of its registration.`,
    },
    operator: recorded(OTHER_GRANT),
    example: { grantType: 'client_credentials' },
  }),
  'endpoints not registered': row<AboutCredential & { readonly endpoints: readonly EndpointSet[] }>({
    when: 'The client is registered for the other set of endpoints only.',
    app: {
      error: 'unauthorized_client',
      description: ({ endpoints }) =>
        `The client is registered for ${endpoints.map((name) => ENDPOINT_RULES[name].tokenPath).join(' and ')} only: send the request there, or change endpoints of its registration.`,
    },
    operator: recorded(OTHER_GRANT),
    example: { endpoints: ['v2'] },
  }),
  'malformed resource': row({
    when: 'A `resource` is not an absolute URI, or there are more than five.',
    app: {
      error: 'invalid_target',
      description:
        'resource must be an absolute URI without a fragment, and there may be five at most: send that of a registered API.',
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
        'A resource of this authorization is no longer registered. Send the user through authorization again, with a resource that is.',
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
        'None of the granted scopes is for this resource. Leave resource out, or ask for its scopes in the authorization request.',
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
  'client changed': row({
    when: 'Client credentials: the client was disabled or deleted during the request.',
    app: { error: 'invalid_client', description: 'Client authentication failed: check client_id and client_secret.' },
    operator: {
      reason: 'the client was changed during the request',
      trace: {
        expected: 'an active app',
        received: 'an app that was disabled or deleted during the request',
        remedy: 'Look at its registration: tessera client show CLIENT_ID',
      },
    },
  }),
  'scope without a user': row({
    when: 'Client credentials: `scope` has a scope about a person, or was sent to `/api/v2/oauth/token`.',
    app: {
      error: 'invalid_scope',
      description:
        'A token of the client itself is about no person, so it cannot have openid, profile or another scope about one: leave scope out. Scopes of APIs are for /oidc/token alone.',
    },
    operator: {
      trace: {
        expected: 'no scope, or scopes of APIs at /oidc/token',
        remedy:
          'Have the app leave scope out, or ask at /oidc/token for scopes of an API: tessera client api-scopes CLIENT_ID',
      },
    },
  }),
  'no scope of an API': row<AboutCredential & { readonly clientId: string; readonly scope: string }>({
    when: 'Client credentials: no `scope` is one of an API that the client may request, or there are more than 50.',
    app: {
      error: 'invalid_scope',
      description: ({ clientId, scope }) =>
        `This app may not request ${scope.includes('/.default') ? 'a scope such as /.default, which another service has. Send the names of the scopes, as orders.read' : 'any of these scopes, or several APIs have a scope of this name. Send the resource of the API as well'}. The operator lists what it may request: tessera client api-scopes ${clientId}`,
    },
    operator: {
      ...recorded('no scope of an API'),
      trace: ({ clientId }) => ({
        expected: 'scopes of APIs that the app may request',
        remedy: `Allow them: tessera client allow-scopes ${clientId} --api API --scope SCOPE. What the app may request: tessera client api-scopes ${clientId}`,
      }),
    },
    example: { clientId: 'CLIENT_ID', scope: 'notes.read' },
  }),
};
