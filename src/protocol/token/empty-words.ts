import type { Parameters } from '../../platform/http/parameters.ts';
import { OAuthError } from '../../platform/oauth-error.ts';
import { emptyWord } from '../../platform/validation/sent-text.ts';

/** What programs fill from variables. */
const NAMES = [
  'grant_type',
  'code',
  'redirect_uri',
  'code_verifier',
  'refresh_token',
  'device_code',
  'scope',
  'resource',
] as const;

/** The error of a refused token request, with the parameter that is a word such as `undefined`: whatever was refused, that is wrong as well. */
export function nameEmptyWord(error: OAuthError, parameters: Parameters): OAuthError {
  const { status, code, message, headers, reason, detail } = error;
  if (status !== 400 || /is the word /.test(message)) return error;
  for (const name of NAMES) {
    const word = emptyWord(parameters.all(name)[0] ?? '');
    if (word === undefined) continue;
    const named = `${name} is the word ${word}: the variable that should hold it has no value.`;
    return new OAuthError(status, code, `${message} ${named}`, headers, reason, {
      ...detail,
      received: `${name}: the word ${word}`,
      remedy: `Set the variable that should hold ${name}: it has no value where the app runs.`,
    });
  }
  return error;
}
