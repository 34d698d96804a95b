import { isRegisteredUri, redirectUriProblem } from '../../../clients/rules/redirect-uri.ts';
import { type Advice, explainUnregistered } from '../../../clients/rules/unregistered-uri.ts';
import type { RepeatableParameters } from '../../../platform/http/parameters.ts';
import { isSnowflake } from '../../../platform/ids/ids.ts';
import type { ResponseMode } from './parameters.ts';

/** What the rules need to know of a client. */
export interface RedirectingClient {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly scopes: readonly string[] | null;
  readonly grantTypes: readonly string[];
  readonly type: 'confidential' | 'public';
  readonly requirePkce: boolean;
  /** In seconds. */
  readonly defaultMaxAge: number | null;
  readonly status: 'active' | 'disabled';
  readonly generation: string;
}

/** An error that must be shown here: there is no address that it could safely be sent to. */
export interface DisplayedError {
  readonly kind: 'display';
  readonly problem: 'client' | 'disabled' | 'redirect_uri';
  /** In few words, for the log and the figures. */
  readonly reason: string;
  /** For the developer: what is wrong, what came, what to do. */
  readonly advice: Advice;
}

const display = (problem: DisplayedError['problem'], reason: string, advice: Advice): DisplayedError => ({
  kind: 'display',
  problem,
  reason,
  advice,
});

/** Where answers of one request go: a client's own registered address. Only {@link checkTarget} makes one. */
export interface RedirectTarget {
  readonly kind: 'target';
  readonly redirectUri: string;
  readonly responseMode: ResponseMode;
  readonly state: string | null;
  readonly [checked]: true;
}
declare const checked: unique symbol;

const FIND_CLIENT = {
  remedy: 'Send the clientId of the app’s registration. This lists them all:',
  command: 'npx tessera client list',
};

/** A parameter that stands more than once, or not where it is read. */
export const displayedError = (
  problem: DisplayedError['problem'],
  reason: string,
  description: string,
  remedy: string,
) => display(problem, reason, { description, remedy });

const repeated = (problem: DisplayedError['problem'], name: string): DisplayedError =>
  displayedError(problem, `${name} repeated`, `${name} was sent more than once.`, 'Send it once.');

/** A parameter without a value: it may be there under a name that is nearly right. */
function missing(
  problem: DisplayedError['problem'],
  name: string,
  parameters: RepeatableParameters,
  find: Pick<Advice, 'remedy' | 'command'>,
): DisplayedError {
  if (parameters.has(name)) return display(problem, `${name} empty`, { description: `${name} is empty.`, ...find });
  const bare = (text: string) => text.replaceAll(/[^a-z]/gi, '').toLowerCase();
  const similar = parameters.names.find((other) => other.length < 32 && bare(other) === bare(name));
  const came = similar === undefined ? undefined : { name: similar, value: parameters.get(similar) ?? '' };
  return display(problem, `${name} missing`, { description: `${name} is missing.`, came, ...find });
}

/** The client_id of a request, or why there is none that could be looked up. */
export function requestedClient(parameters: RepeatableParameters): string | DisplayedError {
  if (parameters.repeated.has('client_id')) return repeated('client', 'client_id');
  return parameters.get('client_id') ?? missing('client', 'client_id', parameters, FIND_CLIENT);
}

/** A client_id that no client has: what it looks like says what may have happened. */
function unknownClient(clientId: string): DisplayedError {
  // Not repeated on the page: it may be a secret that still holds.
  if (/^\s*tcs_/.test(clientId)) {
    return display('client', 'client_id a secret', {
      description: 'client_id holds what looks like a client secret.',
      remedy: 'Send the clientId instead. The secret has been in an address now, so give the app another one:',
      command: 'npx tessera client rotate-secret CLIENT_ID',
    });
  }
  const came = { name: 'client_id', value: clientId };
  const unknown = (description: string, find: Pick<Advice, 'remedy' | 'command'>) =>
    display('client', 'client_id unknown', { description, came, ...find });
  if (isSnowflake(clientId)) {
    const remedy = `An app of another server or database is not known to this one. ${FIND_CLIENT.remedy}`;
    return unknown('No app is registered here under this client_id.', { ...FIND_CLIENT, remedy });
  }
  return isSnowflake(clientId.trim())
    ? unknown('client_id has white space around it.', { remedy: 'Send the number alone.' })
    : unknown('client_id is none that this service gives out: those are numbers.', FIND_CLIENT);
}

/**
 * RFC 6749 §4.1.2.1: before anything else, whom the answer goes to. Where that is in doubt there is no redirect.
 * @param client undefined where the client_id is not on record
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
      app: client.name,
      came: { name: 'client_id', value: client.id },
      remedy: 'Whoever runs this service can enable it again:',
      command: `npx tessera client enable ${client.id}`,
    });
  }
  if (parameters.repeated.has('redirect_uri')) return repeated('redirect_uri', 'redirect_uri');
  const redirectUri = parameters.get('redirect_uri');
  if (redirectUri === undefined) {
    return missing('redirect_uri', 'redirect_uri', parameters, {
      remedy: 'Send one that is registered. This shows which are:',
      command: `npx tessera client show ${client.id}`,
    });
  }
  if (!isRegisteredUri(redirectUri, client.redirectUris, client.type)) {
    const asked = { name: 'redirect_uri', sent: redirectUri, registered: client.redirectUris, local } as const;
    return display('redirect_uri', 'redirect_uri not registered', explainUnregistered(client, asked));
  }
  // The registration was checked when it was made; this is for one that reached the database another way.
  const problem = redirectUriProblem(redirectUri, client.type);
  if (problem !== undefined) {
    return display('redirect_uri', 'redirect_uri unusable', {
      description: `redirect_uri is registered, but it must ${problem}.`,
      came: { name: 'redirect_uri', value: redirectUri },
      remedy: 'Register another one:',
      command: `npx tessera client update ${client.id} --redirect-uri REDIRECT_URI`,
    });
  }
  const clear = (name: string) => !parameters.repeated.has(name) && !parameters.malformed.has(name);
  const state = clear('state') ? (parameters.get('state') ?? null) : null;
  const byForm = clear('response_mode') && parameters.get('response_mode') === 'form_post';
  const responseMode = byForm && formPostProblem(redirectUri, state) === undefined ? 'form_post' : 'query';
  return { kind: 'target', redirectUri, responseMode, state } as RedirectTarget;
}

/** Why an answer cannot be sent by a form, as it can in an address. */
export function formPostProblem(redirectUri: string, state: string | null): string | undefined {
  if (!/^https?:/i.test(redirectUri)) return 'response_mode=form_post needs an https redirect_uri';
  // HTML rewrites line ends and NUL in a field, and a state comes back unchanged or not at all.
  if (/[\0\r\n]/.test(state ?? '')) return 'with response_mode=form_post state must have no line ends and no NUL';
  return undefined;
}
