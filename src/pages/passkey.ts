import type { PasskeyProblem } from '../authenticators/relying-party.ts';
import { hidden } from './components.ts';
import { type Html, html } from './html.ts';
import type { Site } from './layout.ts';

/** The name of the field in which the script sends what the authenticator answered. */
export const PASSKEY_FIELD = 'passkey';

interface PasskeyForm {
  /** For a button outside of the form. */
  readonly id: string;
  readonly action: string;
  /** Where the script asks for the options of the prompt. */
  readonly options: string;
  readonly kind: 'get' | 'create';
  readonly token: string;
  readonly values?: Readonly<Record<string, string>>;
  /** Whether the passkeys of this device are also offered in the autofill of the page's username field. */
  readonly autofill?: boolean;
  /** What is shown of the form; nothing where its button is elsewhere. */
  readonly content?: Html;
}

/** A form that asks the browser for a passkey when it is submitted. The page needs the script `passkeys`. */
export function passkeyForm({ path, messages }: Site, form: PasskeyForm): Html {
  const { id, action, options, kind, token, values = {}, autofill = false, content } = form;
  const text = messages.passkeys;
  const [cancelled, failed] = kind === 'get' ? [text.cancelled, text.failed] : [text.notCreated, text.notCreatedHere];
  return html`<form id="${id}" class="passkey" method="post" action="${path(action)}" data-passkey="${kind}" data-options="${path(options)}" data-cancelled="${cancelled}" data-failed="${failed}" data-exists="${text.exists}"${autofill && html` data-autofill`}>${hidden(token, { ...values, [PASSKEY_FIELD]: '' })}<p class="notice" role="status" data-line></p>${content}</form>`;
}

/** A button of a passkey form, shown only where the browser supports passkeys. */
export const passkeyButton = (form: string, label: string, style: 'primary' | 'equal'): Html =>
  html`<button class="${style}" type="submit" form="${form}" hidden data-passkey-button>${label}</button>`;

/** Tells the script to let the person's passkey manager forget a passkey that is not on record (Web Authentication Level 3 §5.1.10). */
export const unknownPasskey = (rpId: string, credentialId: string): Html =>
  html`<span hidden data-unknown-passkey="${credentialId}" data-rp="${rpId}"></span>`;

/** What is said of a response that was refused. */
export function passkeyProblemText({ messages: { passkeys: text } }: Site, problem: PasskeyProblem): string {
  if (problem === 'expired') return text.expired;
  return problem === 'not verified' ? text.notVerified : text.invalid;
}
