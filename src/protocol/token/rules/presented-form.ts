import { emptyWord } from '../../../platform/validation/sent-text.ts';

/** What a text that is no valid token is by its form alone, and how it usually gets where a token belongs. */
export interface PresentedForm {
  /** From a bounded set, for the log and the metrics. */
  readonly reason: string;
  /** Continues "It …". It repeats nothing of the text but known words. */
  readonly description: string;
}

const form = (reason: string, description: string): PresentedForm => ({ reason, description });

const NOT_SET = 'the variable that should hold the token has no value.';

/** RFC 7515 §7.1: three parts, of which the signature is empty for the algorithm `none`. */
const JWT = /^([A-Za-z0-9_-]{1,1024})\.[A-Za-z0-9_-]+\.([A-Za-z0-9_-]*)$/;

/**
 * Describes a text that no key of this service verified.
 * @param wanted the kind of token that belongs here
 * @param issuer this service
 */
export function describeForm(text: string, wanted: 'access' | 'refresh', issuer: string): PresentedForm {
  const field = wanted === 'access' ? 'access_token' : 'refresh_token';
  const send = `Send the ${field} of the token response`;
  if (text.startsWith('[object')) {
    return form('no value', `is [object Object]: an object was sent instead of its member. ${send}.`);
  }
  const word = emptyWord(text);
  if (word !== undefined) return form('no value', `is the word ${word}: ${NOT_SET} ${send}.`);
  if (/^(["'`]|%22|%27)/.test(text)) return form('quoted', `is in quotes. ${send} without quotes.`);
  if (/^bearer(\s|%20|$)/i.test(text))
    return form('Bearer twice', 'begins with the word Bearer: leave that word out of the token.');
  if (/^\{\s*"/.test(text))
    return form('JSON', `is JSON, such as the whole token response. Send only its member ${field}.`);
  if (/^[<{$%]|^your[_-]/i.test(text)) return form('placeholder', `is a placeholder. ${send} in its place.`);
  if (text.startsWith('tcs_')) return form('a client secret', `looks like a client secret. ${send}.`);
  if (text.startsWith('tak_')) return form('an admin key', `looks like an admin key. ${send}.`);
  if (/\s|%20|,/.test(text)) return form('more than a token', `has white space or a comma in it. ${send} alone.`);
  const [, header, signature = ''] = JWT.exec(text) ?? [];
  if (header !== undefined) return describeJwt({ text, header: readSegment(header), signature, issuer }, send);
  if (/^[A-Za-z0-9_-]{43}$/.test(text)) {
    const advice = 'Exchange a code at the token endpoint with grant_type=authorization_code';
    return form(
      'an authorization code',
      `looks like an authorization code. ${advice}, and send the ${field} of the response.`,
    );
  }
  if (text.split('.').length === 5) return form('encrypted', 'is an encrypted JWT, and this service issues none.');
  if (/^ey[\w-]+(\.[\w-]*)?$/.test(text)) return form('cut off', `is a part of a JWT: it was cut off. ${send} whole.`);
  if (isEncodedToken(text)) {
    return form('a token in base64', `is a token that was encoded in base64 once more. ${send} as it came.`);
  }
  return form(
    'no token',
    `is not a token of this service, whose tokens are JWTs: three parts with dots between them. ${send}.`,
  );
}

interface PresentedJwt {
  readonly text: string;
  readonly header: Readonly<Record<string, unknown>>;
  readonly signature: string;
  readonly issuer: string;
}

/** Whether a text is a JWT in base64: the encoding of a JWT begins with "ey". */
const isEncodedToken = (text: string): boolean =>
  /^ZXl[A-Za-z0-9+/_-]+={0,2}$/.test(text) && JWT.test(Buffer.from(text, 'base64').toString('utf8'));

/** An issuer that can be shown: the address of a service, and nothing else that a token may hold. */
const SHOWN_ISSUER = /^https?:\/\/[\w.-]{1,100}(?::\d{1,5})?(?:\/[\w./~-]{0,60})?$/;

/** The service that a JWT says it is of, where it is another than this one. */
function foreignIssuer({ text, issuer }: PresentedJwt): string | undefined {
  const { iss } = readSegment(text.split('.')[1] ?? '');
  if (iss === issuer || typeof iss !== 'string') return undefined;
  return SHOWN_ISSUER.test(iss) ? iss : 'another service';
}

function describeJwt(jwt: PresentedJwt, send: string): PresentedForm {
  const { header, signature } = jwt;
  const { alg, typ } = header;
  if (alg === 'none') return form('unsigned', `is a JWT without a signature. ${send} as it came.`);
  if (alg === 'HS256' && signature.length !== 43) {
    return form(
      'cut off',
      `is a JWT whose signature was cut off or added to. ${send} whole, and store at least 8 KiB.`,
    );
  }
  const foreign = foreignIssuer(jwt);
  if (foreign !== undefined) {
    return form(
      'the token of another service',
      `was issued by ${foreign}, and this service is ${jwt.issuer}. ${send}.`,
    );
  }
  if (typ === 'at+jwt' || typ === 'rt+jwt') {
    const kind = typ === 'at+jwt' ? 'an access token' : 'a refresh token';
    const cause = 'it was changed, is from another server, or its key was dropped';
    return form(
      'no key verifies it',
      `looks like ${kind}, but no key of this service verifies it: ${cause}. ${send} as it came. Compare iss with this issuer, and get a new one.`,
    );
  }
  if (typ === 'JWT' || typ === undefined) {
    return form(
      'an ID token',
      `looks like an ID token, which tells the app who signed in and gives no access. ${send}.`,
    );
  }
  return form('no key verifies it', `is a JWT of another service: no key of this service verifies it. ${send}.`);
}

function readSegment(segment: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(Buffer.from(segment, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
  } catch {
    return { typ: 'unreadable' };
  }
}

/** What is wrong with an Authorization header, and what to do. */
export interface AuthorizationFault {
  readonly cause: string;
  readonly remedy: string;
}

const HEADER = 'Authorization: Bearer ACCESS_TOKEN';
const SEND_HEADER = `Send ${HEADER}.`;

/**
 * Why an Authorization header has no bearer token (RFC 6750 §2.1). It repeats nothing of the header.
 * @param sentHeaders how many the request has, of which the first is read
 */
export function describeAuthorization(authorization: string | undefined, sentHeaders = 1): AuthorizationFault {
  const fault = (cause: string, remedy = SEND_HEADER): AuthorizationFault => ({ cause, remedy });
  if (authorization === undefined) {
    return fault(
      'The request has no Authorization header.',
      `${SEND_HEADER} Proxies and redirects to another host may remove it.`,
    );
  }
  const text = authorization.trim();
  if (sentHeaders > 1) {
    return fault(
      'The request has two Authorization headers, and the first has no access token.',
      `Send one, ${HEADER}. A proxy or an HTTP library may add its own.`,
    );
  }
  if (/^bearer$/i.test(text)) return fault(`Nothing follows the word Bearer: ${NOT_SET}`);
  if (/^bearer[\s]+\[object/i.test(text)) {
    return fault('The token is [object Object]: an object was sent instead of its member access_token.');
  }
  if (/^bearer\s*\{/i.test(text)) {
    return fault(
      'The header has JSON, such as the whole token response.',
      'Send only its member access_token after the word Bearer.',
    );
  }
  if (/^bearer\s+bearer\s/i.test(text)) return fault('The header has the word Bearer twice.');
  if (/^bearer\s/i.test(text)) {
    return fault('White space or something else follows the token.', `Send ${HEADER}, and nothing after it.`);
  }
  if (/^bearer/i.test(text)) return fault('A space must follow the word Bearer.');
  if (/^basic\s/i.test(text)) {
    return fault('The header has client credentials (Basic). They are for the token endpoint.');
  }
  if (/^(ey[\w-]+\.|["'])/.test(text)) {
    return fault(
      'The word Bearer is missing before the token.',
      `Add Bearer and a space before the token: send ${HEADER}.`,
    );
  }
  return fault('The header has another scheme than Bearer.');
}

/** What may be wrong with a text that is no code on record. The client learns no more than what it sent. */
export function describeUnknownCode(text: string): string {
  const send = 'Send the parameter code of the redirect';
  const word = emptyWord(text);
  if (word !== undefined) return `It is the word ${word}: the variable that should hold it has no value.`;
  if (JWT.test(text))
    return `It is a JWT, such as a token: for a refresh token send grant_type=refresh_token. ${send}.`;
  if (/^https?:|[?&=]/.test(text)) return `It has more of the address in it than the code. ${send} alone.`;
  if (/\s|%/.test(text)) return `It has white space or percent signs, and a code has none. ${send}, decoded once.`;
  if (!/^[A-Za-z0-9_-]{43}$/.test(text)) {
    return `A code has 43 characters, letters, digits, - and _, and this is no such text. ${send} whole.`;
  }
  return 'It works once, within 60 seconds, at the server that issued it and for the client that asked for it. Look for a double callback, and for another client_id or server.';
}
