import { agentCookies } from './browser.ts';
import { BANNED, CONSENT, LOGIN, MESSAGES, NOT_CONNECTED, SUSPENDED } from './expected.ts';
import { OK } from './history.ts';
import { BASE_URL, type WireAnswer } from './wire.ts';

/** What an answer comes to in a history, and what it gave. */
export interface Read {
  readonly outcome: string;
  readonly code?: string;
  readonly access?: string;
  readonly refresh?: string;
  readonly device?: string;
  /** The session's cookie. */
  readonly cookie?: string;
}

/** An answer of the API. */
export function readJson({ status, text }: WireAnswer): Read {
  if (status >= 200 && status < 300) return { outcome: OK };
  const { error, error_description: description } = JSON.parse(text) as Record<string, string>;
  const isBar = Object.values<string | undefined>(MESSAGES).includes(description);
  return { outcome: `${status} ${isBar ? description : error}` };
}

export function readTokens(answer: WireAnswer): Read {
  if (answer.status !== 200) return readJson(answer);
  const { access_token: access, refresh_token: refresh } = JSON.parse(answer.text) as Record<string, string>;
  if (access === undefined || refresh === undefined) return { outcome: '200 without tokens' };
  return { outcome: OK, access, refresh };
}

const BARRED = new Map([BANNED, SUSPENDED].map((outcome) => [outcome.slice(4), outcome]));

/** An answer to a browser that is under way to a client. */
export function readRedirect({ status, headers }: WireAnswer): Read {
  const { location } = headers;
  if (typeof location !== 'string') return { outcome: `${status} displayed` };
  const { origin, pathname, searchParams } = new URL(location, BASE_URL);
  if (origin === BASE_URL && pathname === '/login') return { outcome: LOGIN };
  if (origin === BASE_URL && pathname === '/consent') return { outcome: CONSENT };
  const code = searchParams.get('code');
  if (code !== null) return { outcome: OK, code };
  const error = searchParams.get('error');
  const barred = BARRED.get(searchParams.get('error_description') ?? '');
  return { outcome: error === 'access_denied' && barred !== undefined ? barred : `redirect ${error}` };
}

export function readSignIn(answer: WireAnswer): Read {
  const { status, text, headers } = answer;
  if (status === 403) return { outcome: /is suspended/.test(text) ? SUSPENDED : BANNED };
  const cookie = agentCookies(answer).get('__Host-tessera_session');
  if (status !== 303 || headers['location'] !== '/account' || cookie === undefined) {
    return { outcome: `${status} displayed` };
  }
  return { outcome: OK, cookie };
}

/** What a person does on the pages of the account: a session that is dead is sent to sign in, and does nothing. */
export function readDeed({ status, headers }: WireAnswer): Read {
  const done = status === 200 || headers['clear-site-data'] !== undefined;
  if (done) return { outcome: OK };
  return { outcome: headers['location'] === '/login' ? LOGIN : `${status} displayed` };
}

/** The answer to a person who allowed or denied a device. */
export function readAnswerToDevice({ status, text, headers }: WireAnswer, decision: 'allow' | 'deny'): Read {
  if (status === 200) {
    const allowed = text.includes('Your device is connected');
    if (!allowed && !text.includes('Your device was not connected')) return { outcome: '200 displayed' };
    return { outcome: allowed === (decision === 'allow') ? OK : NOT_CONNECTED };
  }
  const { location } = headers;
  const leadsToLogin = typeof location === 'string' && new URL(location, BASE_URL).pathname === '/login';
  return { outcome: leadsToLogin ? LOGIN : `${status} displayed` };
}

/** A page that is only looked at. */
export const readPage = ({ status }: WireAnswer): Read => ({ outcome: status < 500 ? OK : `${status} displayed` });
