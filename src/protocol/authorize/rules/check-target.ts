import type { EndpointSet } from '../../../claims/endpoint-set.ts';
import { ENDPOINT_RULES } from '../../../claims/endpoint-set.ts';
import { type DeveloperAdvice, type Remedy, readClient } from '../../../clients/rules/developer-advice.ts';
import { isUrlForm } from '../../../clients/rules/metadata-document.ts';
import { isRegisteredUri, redirectUriProblem } from '../../../clients/rules/redirect-uri.ts';
import { explainUnregisteredUri } from '../../../clients/rules/unregistered-uri.ts';
import type { RegisteredBy } from '../../../clients/store.ts';
import type { RepeatableParameters } from '../../../platform/http/parameters.ts';
import { isSnowflake } from '../../../platform/ids/ids.ts';
import { renameParameter } from '../../../platform/validation/misspelled-parameter.ts';
import { emptyWord, unwrapped } from '../../../platform/validation/sent-text.ts';
import { adviceForParameter, PARAMETER_NAMES } from './parameters.ts';
import type { ResponseMode } from './request.ts';

/** The registration of a client, as far as these checks need it. */
export interface RedirectingClient {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[] | null;
  readonly grantTypes: readonly string[];
  readonly endpoints: readonly EndpointSet[];
  readonly type: 'confidential' | 'public';
  readonly requirePkce: boolean;
  /** In seconds. */
  readonly defaultMaxAge: number | null;
  readonly status: 'active' | 'disabled';
  readonly generation: string;
  /** The URL that is its `client_id`; null for a client with a number. */
  readonly metadataUrl: string | null;
  /** Who registered it, if not an operator, and when an operator accepted it. */
  readonly registeredBy: RegisteredBy | null;
  readonly acceptedAt: number | null;
}

/** An error that must be shown on a page: there is no address that it could safely be sent to. */
export interface DisplayedError {
  readonly kind: 'display';
  readonly problem: 'client' | 'disabled' | 'redirect_uri';
  /** A short text for the log and the metrics. */
  readonly reason: string;
  /** For the developer: what is wrong, what came, what to do. */
  readonly advice: DeveloperAdvice;
}

const display = (problem: DisplayedError['problem'], reason: string, advice: DeveloperAdvice): DisplayedError => ({
  kind: 'display',
  problem,
  reason,
  advice,
});

/** Where the responses to a request go: a registered redirect URI of its client. Only {@link checkTarget} makes one. */
export interface RedirectTarget {
  readonly kind: 'target';
  readonly client: RedirectingClient;
  readonly redirectUri: string;
  readonly responseMode: ResponseMode;
  readonly state: string | null;
  readonly [checked]: true;
}
declare const checked: unique symbol;

const TOKEN_PATHS = Object.values(ENDPOINT_RULES)
  .map(({ tokenPath }) => tokenPath)
  .join(' or ');

const FIND_CLIENT: Remedy = {
  remedy: 'Send the clientId of the app’s registration. This lists them all:',
  call: 'GET /api/v2/admin/clients',
  command: 'tessera client list',
};

/**
 * OpenID Connect Core 1.0 §3.1.2.1: a POST has its parameters in the body. With one in the query as well, different programs
 * could read different values, so nothing is redirected.
 */
export function checkQueryOfPost(query: RepeatableParameters): DisplayedError | undefined {
  const name = PARAMETER_NAMES.find((known) => query.has(known));
  if (name === undefined) return undefined;
  return display(name === 'redirect_uri' ? 'redirect_uri' : 'client', 'address of a POST', {
    description: `${name} stands in the address of a POST.`,
    remedy: 'Send it in the body.',
  });
}

const repeated = (problem: DisplayedError['problem'], name: string): DisplayedError =>
  display(problem, `${name} repeated`, { description: `${name} was sent more than once.`, remedy: 'Send it once.' });

/** A parameter without a value. It may have been sent under a misspelled name. */
function missing(
  problem: DisplayedError['problem'],
  name: string,
  parameters: RepeatableParameters,
  find: Remedy,
): DisplayedError {
  if (parameters.has(name)) {
    const description = `${name} is empty: the variable that should hold it has no value.`;
    return display(problem, `${name} empty`, { description, ...find });
  }
  if (parameters.has('grant_type')) {
    return display(problem, 'a token request', {
      description: `This is the authorization endpoint, and the request has grant_type, as a token request. ${name} is missing.`,
      expected: 'an authorization request, to which the browser of the user is sent',
      remedy: `POST it to the token endpoint: ${TOKEN_PATHS}`,
    });
  }
  const other = (sent: string) => name === 'redirect_uri' && /^(redirect|callback)[_-]?(ur[il])?$/i.test(sent);
  const similar = parameters.misspelled(name) ?? parameters.names.find(other);
  const reason = `${name} missing`;
  const bundle = ['request', 'request_uri'].find((sent) => parameters.has(sent));
  if (similar === undefined && bundle !== undefined) {
    return display(problem, reason, {
      description: `${name} is missing, and ${bundle} was sent, which is not supported: nothing in it is read.`,
      expected: 'each parameter by itself',
      remedy:
        'Send each parameter by itself, and switch request objects (JAR) and pushed authorization requests (PAR) off in the library.',
    });
  }
  if (similar === undefined) return display(problem, reason, { description: `${name} is missing.`, ...find });
  return display(problem, reason, {
    description: `${name} is missing, and ${similar} was sent.`,
    came: { name: similar, value: parameters.get(similar) ?? '' },
    remedy: renameParameter(similar, name),
  });
}

/** The client_id of a request, or the error of a request without one. */
export function requestedClient(parameters: RepeatableParameters): string | DisplayedError {
  if (parameters.repeated.has('client_id')) return repeated('client', 'client_id');
  return parameters.get('client_id') ?? missing('client', 'client_id', parameters, FIND_CLIENT);
}

/** The error for a client_id that no client has, with the likely mistake. */
function unknownClient(clientId: string): DisplayedError {
  // Not repeated on the page: the secret may still be valid.
  if (/^\s*tcs_/.test(clientId)) {
    return display('client', 'client_id a secret', {
      description: 'client_id holds what looks like a client secret.',
      remedy: 'Send the clientId instead. The secret has been in an address now, so give the app another one:',
      call: 'POST /api/v2/admin/clients/CLIENT_ID/secrets',
      command: 'tessera client rotate-secret CLIENT_ID',
    });
  }
  const came = { name: 'client_id', value: clientId };
  if (isUrlForm(clientId)) {
    return display('client', 'client_id unknown', {
      description: 'The v2 endpoints know registered apps only, and this client_id is the URL of a metadata document.',
      came,
      remedy: `Send the user to ${ENDPOINT_RULES.oidc.authorizationPath}, where apps identify themselves by such a URL.`,
    });
  }
  const unknown = (description: string, find: Remedy) =>
    display('client', 'client_id unknown', { description, expected: 'the client_id of an active app', came, ...find });
  if (isSnowflake(clientId)) {
    const rounded = isRounded(clientId) ? `${ROUNDED} ` : '';
    const remedy = `${rounded}An app of another server or database is not known to this one. ${FIND_CLIENT.remedy}`;
    return unknown('No app is registered here under this client_id.', { ...FIND_CLIENT, remedy });
  }
  const word = emptyWord(clientId);
  if (word !== undefined) {
    return display('client', 'client_id unknown', {
      description: `client_id is the word ${word}: the variable that should hold it has no value.`,
      expected: 'a client_id of digits only',
      came,
      ...FIND_CLIENT,
      remedy: `Set that variable. ${FIND_CLIENT.remedy}`,
    });
  }
  const bare = unwrapped(clientId);
  return bare !== undefined && isSnowflake(bare.bare)
    ? display('client', 'client_id unknown', {
        description: `client_id has ${bare.by} around it.`,
        expected: 'a client_id of digits only',
        came,
        remedy: 'Send the number alone.',
      })
    : unknown('unknown client_id: those of this server are numbers.', {
        ...FIND_CLIENT,
        remedy: `${isRounded(clientId) ? `${ROUNDED} ` : ''}${FIND_CLIENT.remedy}`,
      });
}

/** Whether a client_id may have been a number in JavaScript, which has 53 bits: it ends in zeros, or has an exponent. */
const isRounded = (clientId: string): boolean => /^\d{15,18}0$|^\d(\.\d+)?e\+?\d+$/i.test(clientId);
const ROUNDED = 'It may have been rounded: keep client_id as text, not as a number.';

/** Why a metadata document is not used, and what to do where that is not about the document. */
interface UnusableMetadata {
  readonly description: string;
  readonly remedy?: string;
}

/** The error for a client whose metadata document cannot be used: draft-ietf-oauth-client-id-metadata-document-03 §5.1. */
export const unusableMetadata = (clientId: string, { description, remedy }: UnusableMetadata): DisplayedError =>
  display('client', 'metadata document', {
    description,
    came: { name: 'client_id', value: clientId },
    remedy:
      remedy ??
      'Publish a valid metadata document at the client_id, or ask the operator of this server about this app.',
  });

/**
 * RFC 6749 §4.1.2.1: client and redirect URI are checked before everything else. Without both nothing is redirected.
 * @param client undefined where no client has the client_id
 * @param local whether the service runs on a developer’s own machine: docs/decisions/0013
 */
export function checkTarget(
  parameters: RepeatableParameters,
  client: RedirectingClient | undefined,
  local: boolean,
): RedirectTarget | DisplayedError {
  if (client === undefined) return unknownClient(parameters.get('client_id') ?? '');
  if (client.status !== 'active') {
    return display('disabled', 'client disabled', {
      description: 'The app with this client_id is disabled.',
      expected: 'the client_id of an active app',
      app: client.name,
      came: { name: 'client_id', value: client.id },
      remedy: 'The operator of this service can set its status to active again:',
      call: `PATCH /api/v2/admin/clients/${client.id}`,
      command: `tessera client enable ${client.id}`,
    });
  }
  if (parameters.repeated.has('redirect_uri')) return repeated('redirect_uri', 'redirect_uri');
  const redirectUri = parameters.get('redirect_uri');
  if (redirectUri === undefined) {
    return missing('redirect_uri', 'redirect_uri', parameters, {
      remedy: 'Send one that is registered. This lists the registered ones:',
      ...readClient(client.id),
    });
  }
  if (client.redirectUris.length === 0) {
    return display('redirect_uri', 'redirect_uri not registered', {
      description: `This app has no redirect URI: it is registered for ${client.grantTypes.join(', ')} only, and no user signs in to it.`,
      app: client.name,
      came: { name: 'redirect_uri', value: redirectUri },
      remedy:
        'Register another app with the grant authorization_code and its redirect URI, and send the user to that one.',
      call: 'POST /api/v2/admin/clients',
      command: 'tessera client create --name NAME --redirect-uri REDIRECT_URI',
    });
  }
  if (!isRegisteredUri(redirectUri, client.redirectUris, client.type)) {
    if (client.metadataUrl !== null) {
      return display('redirect_uri', 'redirect_uri not registered', {
        description: 'redirect_uri is not in the metadata document of this app.',
        expected: 'one of redirect_uris in the document, character for character',
        app: client.name,
        came: { name: 'redirect_uri', value: redirectUri },
        remedy: `Send one of redirect_uris in the document, or add this one there: ${client.metadataUrl}`,
      });
    }
    const asked = { name: 'redirect_uri', sent: redirectUri, registered: client.redirectUris, local } as const;
    const advice = explainUnregisteredUri(client, asked);
    const cut = partsCutOff(redirectUri, parameters);
    if (cut.length === 0) return display('redirect_uri', 'redirect_uri not registered', advice);
    const { call: _call, command: _command, nearest: _nearest, ...about } = advice;
    return display('redirect_uri', 'redirect_uri not registered', {
      ...about,
      description: `redirect_uri ends before its first &: the rest came as ${cut.length === 1 ? 'the parameter' : 'the parameters'} ${cut.join(', ')}, because redirect_uri was not encoded.`,
      remedy: 'Encode the whole redirect_uri, as encodeURIComponent and URLSearchParams do.',
    });
  }
  // Registration checks this too; a client could have been written to the database in another way.
  const problem = redirectUriProblem(redirectUri, client.type);
  if (problem !== undefined) {
    return display('redirect_uri', 'redirect_uri unusable', {
      description: `redirect_uri is registered, but it must ${problem}.`,
      came: { name: 'redirect_uri', value: redirectUri },
      remedy: 'Register another one in redirectUris:',
      call: `PATCH /api/v2/admin/clients/${client.id}`,
      command: `tessera client update ${client.id} --redirect-uri REDIRECT_URI`,
    });
  }
  const clear = (name: string) => !parameters.repeated.has(name) && !parameters.malformed.has(name);
  const state = clear('state') ? (parameters.get('state') ?? null) : null;
  const modeOfError = clear('request') ? modeInRequestObject(parameters.get('request') ?? '') : undefined;
  const mode = clear('response_mode') ? (parameters.get('response_mode') ?? modeOfError) : undefined;
  const byForm = mode === 'form_post' && formPostProblem(redirectUri, state) === undefined;
  return { kind: 'target', client, redirectUri, responseMode: byForm ? 'form_post' : 'query', state } as RedirectTarget;
}

/** How many names of parameters are shown, and what one looks like that can be. */
const MOST_CUT = 5;
const SHOWN_NAME = /^[A-Za-z][\w.-]{0,31}$/;

/**
 * The parameters that are a part of a redirect URI with a query that was not encoded: those that come right behind it, until one that has a
 * meaning here. The address that is left must not be registered.
 */
function partsCutOff(redirectUri: string, { names }: RepeatableParameters): readonly string[] {
  if (!redirectUri.includes('?')) return [];
  const behind = names.slice(names.indexOf('redirect_uri') + 1);
  const end = behind.findIndex((name) => PARAMETER_NAMES.includes(name) || adviceForParameter(name) !== undefined);
  return behind.slice(0, end === -1 ? MOST_CUT : Math.min(end, MOST_CUT)).filter((name) => SHOWN_NAME.test(name));
}

/** Longer request objects are not read. */
const LONGEST_REQUEST_OBJECT = 8192;

/**
 * The `response_mode` in a request object (RFC 9101 §4), whose signature is not verified. Request objects are rejected, so this decides
 * only where that error is sent: to the same redirect URI, in the query or by a form.
 */
function modeInRequestObject(jwt: string): unknown {
  const payload = jwt.length > LONGEST_REQUEST_OBJECT ? undefined : jwt.split('.')[1];
  if (payload === undefined) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    const isObject = typeof claims === 'object' && claims !== null && Object.hasOwn(claims, 'response_mode');
    return isObject ? (claims as { readonly response_mode: unknown }).response_mode : undefined;
  } catch {
    // Encrypted, or not a JWT.
    return undefined;
  }
}

/** Why a response cannot be sent by a form. */
export function formPostProblem(redirectUri: string, state: string | null): string | undefined {
  if (!/^https?:/i.test(redirectUri))
    return 'response_mode=form_post needs a redirect_uri with https or on a loopback host';
  // HTML changes line ends and NUL in the value of a field, and state must be returned unchanged.
  if (/[\0\r\n]/.test(state ?? '')) return 'with response_mode=form_post state must have no line ends and no NUL';
  return undefined;
}
