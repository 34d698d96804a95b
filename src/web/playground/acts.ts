import { FORM_TOKEN } from '../../platform/http/browser.ts';
import {
  begunAgain,
  heldTokens,
  type PlaygroundAction,
  type PlaygroundVisit,
  type Revocation,
} from './rules/progress.ts';
import { exchangeRequest, refreshRequest, userInfoRequest } from './rules/requests.ts';
import { newAttempt } from './visits.ts';
import type { Exchange, Wire } from './wire.ts';

/** What an act needs besides the visit. */
export interface Means {
  readonly wire: Wire;
  readonly issuer: string;
  /** The browser's own cookies and the token of its account's forms: with them it could press the button itself. */
  readonly cookies: string;
  readonly accountToken: string;
}

/** Does the next act of a visit on the wire. @param action must be the visit's next one */
export async function perform(
  visit: PlaygroundVisit,
  action: PlaygroundAction,
  means: Means,
): Promise<PlaygroundVisit> {
  const { wire, issuer } = means;
  if (action === 'again') return begunAgain(visit, newAttempt());
  if (action === 'tokens') {
    return { ...visit, tokens: await wire(exchangeRequest(visit, visit.callback?.code ?? '', issuer)) };
  }
  const tokens = heldTokens(visit);
  if (tokens === undefined) return visit;
  if (action === 'userinfo') return { ...visit, userinfo: await wire(userInfoRequest(tokens.access_token)) };
  if (action === 'refresh') return { ...visit, refresh: await wire(refreshRequest(visit, tokens.refresh_token)) };
  return { ...visit, revoke: await revoke(visit, tokens, means) };
}

/** Takes the access away as the person would on the page of connected apps, and asks again at once with what the app holds. */
async function revoke(
  visit: PlaygroundVisit,
  { access_token, refresh_token }: { readonly access_token: string; readonly refresh_token: string },
  { wire, issuer, cookies, accountToken }: Means,
): Promise<Revocation> {
  const act = await wire({
    method: 'POST',
    path: '/account/connections',
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      Accept: 'text/html',
      Origin: new URL(issuer).origin,
      Cookie: cookies,
    },
    body: String(new URLSearchParams({ [FORM_TOKEN]: accountToken, client_id: visit.clientId })),
  });
  const userinfo = await wire(userInfoRequest(access_token));
  const refresh = await wire(refreshRequest(visit, refresh_token));
  return { act: withoutSecrets(act, cookies, accountToken), userinfo, refresh };
}

/** What proves the person is theirs alone, and the page of connected apps is not the subject: both are left out, visibly. */
function withoutSecrets(act: Exchange, cookies: string, accountToken: string): Exchange {
  const end = act.answer.indexOf('\r\n\r\n') + 4;
  const page = Buffer.byteLength(act.answer.slice(end));
  return {
    ...act,
    request: act.request.replace(cookies, '[your cookies]').replace(accountToken, '[your form token]'),
    answer: `${act.answer.slice(0, end).replaceAll(/^set-cookie: .*$/gim, 'set-cookie: [yours]')}[the page of connected apps, ${page} bytes]`,
  };
}
