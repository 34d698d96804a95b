import { keyedDigest } from '../crypto/secrets.ts';
import type { RepeatableParameters } from './parameters.ts';

/** The name of the hidden field with a form's token. */
export const FORM_TOKEN = 'form_token';

interface TokenParts {
  readonly mac: string;
  readonly shownTo: string;
}

/** The token of a form: a MAC, and to whom the form was shown. */
export const partsOf = (form: RepeatableParameters): TokenParts => tokenParts(form.get(FORM_TOKEN) ?? '');

/** The same of a token by itself. */
export function tokenParts(token: string): TokenParts {
  const [, mac, shownTo] = /^([\w-]*)\.([\w-]{16}(?:\.\d+)?)$/.exec(token) ?? [];
  return mac === undefined || shownTo === undefined ? { mac: token, shownTo: '' } : { mac, shownTo };
}

/** Signs the tokens of forms. */
export class FormTokens {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** Names a session in form tokens, and tells nothing of it. */
  markOf(sessionHash: string): string {
    return keyedDigest(this.#key, JSON.stringify(['session', sessionHash])).slice(0, 16);
  }

  macFor(identity: string, context: string, shownTo: string): string {
    return keyedDigest(this.#key, JSON.stringify(shownTo === '' ? [identity, context] : [identity, context, shownTo]));
  }
}
