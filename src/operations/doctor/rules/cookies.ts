import { type Finding, ok, problem } from '../finding.ts';
import type { ProbeResult } from '../http-probe.ts';
import type { Online } from '../online.ts';
import { type Cookie, cookieNamed, parseCookie } from './answers.ts';

/** The cookie that identifies a browser, as the service sets it for its base URL. */
export interface CookieStyle {
  readonly browser: string;
  readonly attributes: {
    readonly path: string;
    readonly httpOnly: true;
    readonly sameSite: 'lax';
    readonly secure: boolean;
  };
}

const UNCHANGED =
  'Configure the proxy to forward Set-Cookie and Cookie unchanged: no rewriting of names, paths, domains or flags.';

/** Whether cookies pass the proxies in front of the service unchanged, in both directions. */
export function judgeCookies({ signIn, signInAgain, baseUrl }: Online, style: CookieStyle): Finding[] {
  if (signIn === undefined) return [];
  if (signIn.kind === 'silence' || signIn.status !== 200) {
    const what = signIn.kind === 'silence' ? `nothing (${signIn.reason})` : `${signIn.status}`;
    return [
      problem(
        'cookies',
        `${baseUrl}/login answers ${what}, not the sign-in page.`,
        'Configure the proxy to forward all paths.',
      ),
    ];
  }
  const cookie = cookieNamed(signIn.setCookies, style.browser);
  if (cookie === undefined) {
    const names = signIn.setCookies.map((header) => parseCookie(header).name);
    const instead = names.length === 0 ? 'it set none' : `it set ${names.join(', ')}`;
    return [
      problem(
        'cookies',
        `The sign-in page should set the cookie ${style.browser}, but ${instead}: nobody can sign in.`,
        `${UNCHANGED} If the server runs with another TESSERA_BASE_URL, correct that.`,
      ),
    ];
  }
  const changes = changesOf(cookie, style);
  if (changes.length > 0) {
    return [problem('cookies', `${cookie.name} was changed on the way: ${changes.join(', ')}.`, UNCHANGED)];
  }
  if (!comesBack(signInAgain, style.browser)) {
    return [
      problem(
        'cookies',
        `${cookie.name} does not reach the service again: it is set again with every request.`,
        UNCHANGED,
      ),
    ];
  }
  if (!style.attributes.secure) {
    return [
      ok(
        'cookies',
        `${cookie.name} is passed in both directions unchanged: HttpOnly, SameSite=Lax; not Secure on an http base URL.`,
      ),
    ];
  }
  return [
    ok('cookies', `${cookie.name} is passed in both directions unchanged: Secure, HttpOnly, SameSite=Lax, Path=/.`),
  ];
}

function changesOf({ attributes }: Cookie, { attributes: style }: CookieStyle): string[] {
  const changes: string[] = [];
  if (attributes.has('secure') !== style.secure) changes.push(style.secure ? 'without Secure' : 'with Secure, on http');
  if (!attributes.has('httponly')) changes.push('without HttpOnly');
  const sameSite = attributes.get('samesite') ?? 'nothing';
  if (sameSite.toLowerCase() !== style.sameSite) changes.push(`with SameSite=${sameSite}`);
  const path = attributes.get('path') ?? 'nothing';
  if (path !== style.path) changes.push(`with Path=${path}`);
  const domain = attributes.get('domain');
  if (domain !== undefined) changes.push(`with Domain=${domain}`);
  return changes;
}

const comesBack = (again: ProbeResult | undefined, name: string): boolean =>
  again?.kind === 'answer' && again.status === 200 && cookieNamed(again.setCookies, name) === undefined;
