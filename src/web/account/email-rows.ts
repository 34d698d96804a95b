import type { EarlierAddress } from '../../account-actions/addresses/close-right.ts';
import { emailKey } from '../../accounts/rules/profile.ts';
import type { Account } from '../../accounts/store.ts';
import {
  confirmStep,
  field,
  hidden,
  isolate,
  moment,
  operator,
  type Problems,
  resendForm,
} from '../../pages/components.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';
import { emailValue } from '../../pages/person.ts';
import { readableEmail } from '../../platform/domain-name.ts';
import type { AccountFrame } from './layout.ts';
import { confirmAddress } from './proof.ts';
import { type AccountRow, accountRow, accountRows } from './rows.ts';

/** The page of the email address. */
export const EMAIL_PAGE = '/account/email';

/** Where the right of an earlier address is ended. */
export const CLOSE_PATH = `${EMAIL_PAGE}/earlier`;

interface EmailState {
  readonly frame: AccountFrame;
  readonly profile: Account['profile'];
  /** Whether this server sends mail. */
  readonly isMailSent: boolean;
  /** The address to which a code was sent that waits to be typed, and in how many seconds another one is offered. */
  readonly waiting: { readonly email: string; readonly seconds: number } | undefined;
  /** About the mail of this server. */
  readonly hint: Html | undefined;
  /** What changes the address, or asks for a proof first. */
  readonly change: Html;
  /** Whether a new address is in the form already. */
  readonly isTyped: boolean;
  readonly earlier: readonly EarlierAddress[];
  /** Whether the person proved what going back to an earlier address takes. */
  readonly isReturnProved: boolean;
  readonly problems: Problems;
}

/** The rows of the page. What is next for the person is open. */
export function emailRows(site: Site, state: EmailState): Html {
  const { profile, isMailSent, waiting, isTyped, earlier, problems } = state;
  const address = addressRow(site, state);
  if (!isMailSent) return accountRows([accountRow('address', address, true)]);
  const isChanging = isTyped || problems.fields['email'] !== undefined;
  const isIdle = waiting === undefined && profile.emailVerified;
  return accountRows([
    accountRow('enter-code', waiting === undefined ? undefined : codeRow(site, state, waiting), !isChanging),
    accountRow('address', address, waiting === undefined && !profile.emailVerified && !isChanging),
    accountRow('change-address', changeRow(site, state), isChanging || isIdle),
    accountRow('earlier', earlier.length === 0 ? undefined : earlierRow(site, state), false),
  ]);
}

function addressRow(site: Site, { frame, profile, isMailSent }: EmailState): AccountRow {
  const { messages } = site;
  const text = messages.address;
  const verify = html`<p class="muted small">${text.verifyLead}</p>
<form method="post" action="${site.path(`${EMAIL_PAGE}/verify`)}">${hidden(frame.token)}<div><button class="primary" type="submit">${text.verifySubmit}</button></div></form>`;
  const noMail = html`<p class="muted">${text.noMail}${operator(site)}.</p>`;
  const content = profile.emailVerified ? html`<p class="muted small">${text.currentLead}</p>` : verify;
  return {
    title: text.current,
    state: emailValue(profile, messages),
    content: isMailSent ? content : noMail,
  };
}

/** The form for the code that was sent to an address. */
function codeRow(
  site: Site,
  { frame, profile, hint, problems }: EmailState,
  { email, seconds }: NonNullable<EmailState['waiting']>,
): AccountRow {
  const { messages, path } = site;
  const text = messages.address;
  const isOwn = emailKey(email) === emailKey(profile.email);
  const resend = isOwn ? { action: `${EMAIL_PAGE}/verify`, values: {} } : { action: EMAIL_PAGE, values: { email } };
  const code = {
    name: 'code',
    label: text.code,
    hint: text.codeHint,
    type: 'text',
    autocomplete: 'one-time-code',
    inputMode: 'numeric',
    value: '',
    problems,
  } as const;
  const shown = isolate(readableEmail(email));
  const content = html`<p class="muted">${text.codeLead(shown)}</p>
${hint}
<form method="post" action="${path(`${EMAIL_PAGE}/code`)}" novalidate>${hidden(frame.token)}
${field(code)}<div><button class="primary" type="submit">${text.codeSubmit}</button></div></form>
${resendForm(site, { ...resend, token: frame.token, label: text.resend, seconds })}`;
  return { title: text.codeTitle, state: text.codeState(shown), content };
}

function changeRow({ messages: { address: text } }: Site, { change, profile }: EmailState): AccountRow {
  return {
    title: text.changeTitle,
    state: text.changeState,
    content: html`<p class="muted small">${text.changeLead}${!profile.emailVerified && ` ${text.unproved}`}</p>
${change}`,
  };
}

/** The addresses that can still undo a change, each with the forms that go back to it, and end its right, where the visitor may do that. */
function earlierRow({ messages, path }: Site, { frame, earlier, isReturnProved }: EmailState): AccountRow {
  const text = messages.address;
  const { token } = frame;
  const rows = earlier.map(({ email, until, since, isClosable, isReturn }) => {
    const address = isolate(readableEmail(email));
    const back = html`<form method="post" action="${path(EMAIL_PAGE)}">${hidden(token, { email })}<p class="small">${text.goBackLead(address, moment(since))}</p><div><button type="submit">${text.goBackYes}</button></div></form>`;
    const close = html`<form method="post" action="${path(CLOSE_PATH)}">${hidden(token, { address: email })}<p class="small">${text.earlierSubmitLead(address)}</p><div><button class="danger" type="submit">${text.earlierYes}</button></div></form>`;
    return html`<li class="stack"><p>${address}<br><span class="muted small">${text.earlierUntil}${moment(until)}</span></p>
${isReturn && confirmStep(text.goBack, back)}${isClosable && confirmStep(text.earlierSubmit, close)}</li>`;
  });
  const content = html`<p class="muted small">${text.earlierLead}</p>
<ul class="events">${rows}</ul>${!isReturnProved && html`<div><a class="button" href="${path(confirmAddress('return'))}">${text.goBackConfirm}</a></div>`}${earlier.some(({ isClosable }) => !isClosable) && html`<p class="muted small">${text.earlierNoFactor}</p>`}`;
  return { title: text.earlierTitle, state: text.earlierState(earlier.length), content };
}
