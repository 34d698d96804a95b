import { asciiEmail } from '../domain-name.ts';
import type { Reading } from './variable.ts';

/** Characters that an address in a `mailto:` link and in a page needs no escaping for. */
const MAIL_ADDRESS = /^[A-Za-z0-9.!#$'*+/=^_{|}~-]{1,64}@([A-Za-z0-9-]+\.)+[A-Za-z0-9-]{2,63}$/;

/** Whom people ask for help: an address, in ASCII, or a page. */
export function contact(value: string): Reading<string> {
  const email = asciiEmail(value);
  if (email !== undefined && MAIL_ADDRESS.test(email)) return { value: email };
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url?.protocol === 'https:' && url.username === '' && url.password === '') return { value: url.href };
  return {
    problem: 'must be an email address or an https URL, for example help@example.com or https://example.com/help',
  };
}
