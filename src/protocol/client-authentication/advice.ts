import type { AssertionFault } from '../../clients/rules/assertion.ts';
import { ASSERTION_TYPE } from '../../clients/rules/assertion.ts';
import { isUrlForm } from '../../clients/rules/metadata-document.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { renameParameter } from '../../platform/validation/misspelled-parameter.ts';
import { emptyWord, unwrapped } from '../../platform/validation/sent-text.ts';
import type { ClientCredentials, UnreadableHeader } from './read-credentials.ts';
import { isSecretLike, kindByForm } from './rules/secret-kind.ts';

/** What is wrong, and what to do. */
interface Advice {
  readonly cause: string;
  readonly remedy: string;
}

/** The endpoints that are asked about a token, which is sent in the form. */
const ABOUT_TOKENS = /\/(introspect|revoke)$/;
const INTROSPECTION = /\/introspect$/;

/** What is wrong with the client_id of a request, where no app can have it by its form alone. */
export function wrongIdOf(credentials: ClientCredentials): (Advice & { readonly received: string }) | undefined {
  const wrong = idByForm(credentials.clientId);
  if (wrong === undefined) return undefined;
  if ('assertion' in credentials && credentials.assertion !== undefined) {
    return {
      cause: 'iss and sub of client_assertion must be the client_id, which is a number here',
      received: 'an assertion whose iss and sub are no id of this service: they are numbers',
      remedy: 'Sign both with the clientId of the registration.',
    };
  }
  return { cause: `client_id ${wrong.is}`, received: `a client_id that ${wrong.is}`, remedy: wrong.remedy };
}

function idByForm(clientId: string): { readonly is: string; readonly remedy: string } | undefined {
  if (isSecretLike(clientId)) {
    return {
      is: 'begins with tcs_, as secrets do',
      remedy: 'client_id and client_secret may be swapped: exchange them.',
    };
  }
  const word = emptyWord(clientId);
  if (word !== undefined) {
    return { is: `is the word ${word}`, remedy: 'Set the variable that should hold it: it has no value.' };
  }
  const bare = unwrapped(clientId);
  if (bare !== undefined && isSnowflake(bare.bare)) {
    return { is: `has ${bare.by} around it`, remedy: 'Send the number alone.' };
  }
  if (/^\d*$/.test(clientId) || isUrlForm(clientId)) return undefined;
  return {
    is: 'is not an id of this service: they are numbers',
    remedy: 'Send the clientId of the registration.',
  };
}

/** What to send where nothing identifies the client. */
export function sendCredentials(endpoint: string): string {
  if (INTROSPECTION.test(endpoint)) {
    return 'Send the client_id and client_secret of the API that received the token, in the body or by HTTP Basic. A public app is refused here.';
  }
  return 'Send client_id and client_secret, in the body or by HTTP Basic. A public app sends client_id alone.';
}

type CredentialName = 'client_id' | 'client_secret';

/** What to do about a parameter that is missing: it may have been sent under another name. */
export function renameSent(credentials: ClientCredentials, name: CredentialName): string | undefined {
  if (isInAddress(credentials, name)) {
    return 'Send all parameters in the body, as a form. Logs keep addresses: replace a client_secret that was in one.';
  }
  const sent = sentLike(credentials, name);
  return sent === undefined ? undefined : renameParameter(sent, name);
}

/** Says under which other name a missing parameter was sent; nothing where none is like it. */
export function sentInstead(credentials: ClientCredentials, name: CredentialName): string {
  if (isInAddress(credentials, name)) return ' in the body, and the address has it';
  const sent = sentLike(credentials, name);
  return sent === undefined ? '' : `, and ${sent} was sent`;
}

const isInAddress = (credentials: ClientCredentials, name: CredentialName): boolean =>
  'isInAddress' in credentials && credentials.isInAddress?.(name) === true;

const sentLike = (credentials: ClientCredentials, name: CredentialName): string | undefined =>
  'sentLike' in credentials ? credentials.sentLike?.(name) : undefined;

/** What is wrong with the claims of an assertion, which anyone can read in it, and what to do. */
export const ASSERTION_REMEDIES: Readonly<Record<AssertionFault, (issuer: string) => string>> = {
  'is of another client': () => 'Send iss and sub equal to client_id.',
  'is for another audience': (issuer) => `Send ${issuer} as aud, which is issuer in the discovery document.`,
  'has no exp': () => 'Send exp, in seconds.',
  'has expired': () => `Make one for each request. ${CLOCKS}`,
  'expires too late': () =>
    'Send an exp that is ten minutes ahead at most, in seconds: one in milliseconds is thousands of years ahead.',
  'has times that make no sense': () => 'Send iat, nbf and exp in seconds, not in milliseconds.',
  'is of the future': () => `Its iat or nbf is more than 30 seconds ahead. ${CLOCKS}`,
  'has no jti': () => 'Send a random jti of at most 256 characters.',
};

const CLOCKS = 'Run NTP on both machines: clocks may differ by 30 seconds.';

/**
 * What to check, by what the request holds alone: it must not tell which clients exist.
 * @param context.fault what is wrong with the claims of its assertion whether or not a key verifies it
 * @param context.isInBrowser whether a page sent it
 */
export function adviceFor(
  credentials: ClientCredentials,
  {
    issuer = 'the issuer',
    fault,
    isInBrowser = false,
  }: { readonly issuer?: string; readonly fault?: AssertionFault; readonly isInBrowser?: boolean } = {},
): string {
  const wrongId = wrongIdOf(credentials);
  if (wrongId !== undefined) return `${wrongId.cause}. ${wrongId.remedy}`;
  if (credentials.method === 'private_key_jwt') {
    if ('is' in credentials) return `the request has ${credentials.is}. ${FORM_OF_ASSERTION}`;
    return fault === undefined ? CHECK_ASSERTION : `the assertion ${fault}. ${ASSERTION_REMEDIES[fault](issuer)}`;
  }
  if (credentials.method === 'none' || credentials.clientSecret === '') {
    const remedy =
      renameSent(credentials, 'client_secret') ??
      (isInBrowser
        ? 'An app in a browser has no secret: use one of --type public.'
        : 'Send client_secret. Its variable may be empty.');
    return `client_secret is missing${sentInstead(credentials, 'client_secret')}. Only a public app has none, and this client_id is that of no active public app. ${remedy}`;
  }
  const { cause, remedy } = describeSent(credentials.clientSecret);
  return `${cause}. ${remedy}`;
}

/** What is wrong with the form of a secret, which its sender knows; the same for all causes that its form does not tell. */
function describeSent(clientSecret: string): Advice {
  const secret = kindByForm(clientSecret);
  switch (secret.kind) {
    case 'wrapped':
      return { cause: `client_secret has ${secret.by} around it`, remedy: 'Send it without.' };
    case 'word':
      return {
        cause: `client_secret is the word ${secret.word}`,
        remedy: 'Set the variable that should hold it: it has no value.',
      };
    case 'placeholder':
      return { cause: 'client_secret is a placeholder', remedy: 'Send the secret that was shown when it was made.' };
    case 'shortened':
      return {
        cause: 'client_secret is not whole: a secret is tcs_ and 43 characters',
        remedy: `Copy it again. ${MAY_HAVE_NONE}`,
      };
    // Which of these it is, the operator is told.
    case 'an admin key':
    case 'an id of a secret':
    case 'not a secret':
      return {
        cause: 'client_secret does not begin with tcs_, as every secret of this service does',
        remedy: `${MAY_HAVE_NONE} ${COMPARE}`,
      };
    default:
      return { cause: 'no active app here has this client_id and this client_secret', remedy: COMPARE };
  }
}

const MAY_HAVE_NONE = 'An app that signs assertions (private_key_jwt) has none.';

const COMPARE =
  'Compare client_id and client_secret with the registration: the secret may have ended, or belong to another app. A lost secret cannot be shown again. The operator makes another, and finds the cause by the x-request-id of this response: tessera explain ID';

const FORM_OF_ASSERTION = `Send client_assertion as a JWT whose alg is RS256, PS256, ES256 or EdDSA and whose iss and sub are the client_id, with client_assertion_type ${ASSERTION_TYPE}.`;

const CHECK_ASSERTION =
  'no active app here has this client_id and a registered key that verifies client_assertion. Compare kid and the key with jwks or jwksUri of the registration. The operator finds the cause by the x-request-id of this response: tessera explain ID';

const BASIC = 'the Authorization header must be Basic, with client_id:client_secret in base64';
const ENCODE = 'Encode client_id, a colon and client_secret in base64 after the word Basic, or send both in the body.';

/** What a header has instead of Basic authentication, and what to do: its sender knows what it sent. */
export function describeHeader(header: UnreadableHeader, endpoint: string): Advice & { readonly received: string } {
  const isAboutToken = ABOUT_TOKENS.test(endpoint);
  switch (header) {
    case 'two headers':
      return {
        received: 'two Authorization headers, of which the first is not Basic',
        cause: 'the request has two Authorization headers, and the first is not Basic',
        remedy: 'Send one: a proxy or an HTTP library may add its own.',
      };
    case 'an access token':
    case 'a JWT':
      if (isAboutToken || header === 'an access token') return tokenInHeader(header, isAboutToken, endpoint);
      return {
        received: 'an Authorization header with a JWT, such as a client assertion',
        cause: 'the Authorization header has a JWT',
        remedy: `An app that signs assertions (private_key_jwt) sends it in the body, as client_assertion, with client_assertion_type ${ASSERTION_TYPE} and without this header.`,
      };
    case 'a client secret':
      return {
        received: 'an Authorization header with a client secret alone',
        cause: `${BASIC}, and it has a client secret alone`,
        remedy: ENCODE,
      };
    case 'an admin key':
      return {
        received: 'an Authorization header with an admin key',
        cause: 'the Authorization header has an admin key, which authenticates operators at the admin API alone',
        remedy: 'Send the client_id and client_secret of the app by HTTP Basic.',
      };
    case 'an encoded colon':
      return {
        received: 'Basic, with the colon between client_id and client_secret encoded as %3A',
        cause: 'the colon between client_id and client_secret is encoded as %3A in the Authorization header',
        remedy: 'Encode each of the two by itself, and join them by a plain colon before base64.',
      };
    case 'a text that is not encoded':
      return {
        received: 'Basic, with client_id:client_secret as plain text',
        cause: `${BASIC}, and it has them as plain text`,
        remedy: ENCODE,
      };
    case 'no colon':
      return {
        received: 'Basic, with one text and no colon in it',
        cause: `${BASIC}, and it has no colon`,
        remedy: ENCODE,
      };
    case 'another text':
      return {
        received: 'an Authorization header that is not Basic, or not base64 of a client_id and a client_secret',
        cause: BASIC,
        remedy: ENCODE,
      };
  }
}

/** A token where a client authenticates: it belongs in the form, or at another endpoint. */
function tokenInHeader(header: 'an access token' | 'a JWT', isAboutToken: boolean, endpoint: string) {
  const shown = header === 'an access token' ? header : 'a token (JWT)';
  const whose = INTROSPECTION.test(endpoint) ? 'of the API' : 'of the app';
  return {
    received: `an Authorization header with ${shown} in place of client credentials`,
    cause: `the Authorization header has ${shown}, and a client authenticates here by its client_id and client_secret`,
    remedy: `Send the client_id and client_secret ${whose} by HTTP Basic${isAboutToken ? ', and the token in the form field token' : ''}.`,
  };
}
