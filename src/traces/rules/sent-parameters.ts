/** Parameters whose values help to find a mistake, and give nothing away. */
const SHOWN = [
  'client_id',
  'grant_type',
  'response_type',
  'response_mode',
  'scope',
  'redirect_uri',
  'post_logout_redirect_uri',
  'resource',
  'audience',
  'prompt',
  'max_age',
  'acr_values',
  'code_challenge_method',
  'token_type_hint',
] as const;

/** Parameters of which only the presence is told. */
const NAMED = [
  'client_secret',
  'client_assertion',
  'code',
  'code_challenge',
  'code_verifier',
  'refresh_token',
  'access_token',
  'token',
  'state',
  'nonce',
  'claims',
  'request',
  'request_uri',
  'login_hint',
  'id_token_hint',
] as const;

/** A number, or the URL of a metadata document. */
const CLIENT_ID = /^(\d*|https:\/\/[\w.:-]+\/[\w./~-]*)$/;

/** Named strings: a query, a form, or a JSON object of strings. */
interface NamedStrings {
  get(name: string): string | undefined;
  has(name: string): boolean;
}

const isNamed = (value: unknown): value is NamedStrings =>
  typeof value === 'object' &&
  value !== null &&
  'get' in value &&
  typeof value.get === 'function' &&
  'has' in value &&
  typeof value.has === 'function';

/**
 * The parameters of a request in one line: those of an allow-list with their values, those that are confidential by name only, and
 * all others, which may be anything, not at all.
 */
export function sentParameters(...sources: readonly unknown[]): string | undefined {
  const parameters = sources.filter(isNamed);
  const shown = SHOWN.flatMap((name) => {
    const value = parameters.find((source) => source.has(name))?.get(name);
    if (value === undefined) return [];
    // Text where an id belongs may be a name, an address or a password.
    if (name === 'client_id' && !CLIENT_ID.test(value)) return [`client_id=[${value.length} characters, not a number]`];
    return [`${name}=${/\s/.test(value) ? JSON.stringify(value) : value}`];
  });
  const named = NAMED.filter((name) => parameters.some((source) => source.has(name)));
  const text = [shown.join(' '), named.map((name) => `${name} (value hidden)`).join(', ')].filter(
    (part) => part !== '',
  );
  return text.length === 0 ? undefined : text.join('; ');
}

/** The grant type of a token request. */
export const sentGrantType = (body: unknown): string | undefined =>
  isNamed(body) ? body.get('grant_type') : undefined;
