import { setTimeout as wait } from 'node:timers/promises';
import type { Answer, Browser } from './browser.ts';
import type { Running } from './processes.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** How the driver uses an app, as the person in front of a browser does. */
export interface App {
  /** Begins a sign-in; the answer sends the browser to the issuer. */
  begin(browser: Browser): Promise<Answer>;
  signedIn(browser: Browser): Promise<boolean>;
  /** The claims of the ID token, where the app shows them. */
  idToken(browser: Browser): Promise<Claims | undefined>;
  /** The claims of UserInfo. */
  profile(browser: Browser): Promise<Claims | undefined>;
  /** Makes the library refresh the access token. */
  refresh(browser: Browser, running: Running): Promise<void>;
  /** Signs out of the app; the answer sends the browser to the issuer. */
  signOut(browser: Browser): Promise<Answer>;
}

const object = ({ status, text }: Answer): Claims | undefined => (status === 200 ? JSON.parse(text) : undefined);

/** An app of interop/clients: all of them have the same addresses. */
export function uniform(origin: string, method: 'get' | 'post' = 'get', begin = '/login'): App {
  const home = async (browser: Browser) => object(await browser.get(`${origin}/`));
  return {
    begin: (browser) => browser.get(origin + begin),
    signedIn: async (browser) => (await home(browser))?.['signedIn'] === true,
    idToken: async (browser) => (await home(browser))?.['idToken'] as Claims | undefined,
    profile: async (browser) => object(await browser.get(`${origin}/profile`)),
    refresh: async (browser) => void (await browser.get(`${origin}/refresh`)),
    signOut: (browser) => (method === 'get' ? browser.get(`${origin}/logout`) : browser.post(`${origin}/logout`, {})),
  };
}

/** Half a minute before an access token ends: the examples refresh a minute before. */
const ALMOST = 29.5 * 60_000;

/** An app of examples/. */
export function example(origin: string, profilePath = '/profile'): App {
  const profile = async (browser: Browser) => {
    const shown = object(await browser.get(origin + profilePath));
    return profilePath === '/profile' ? shown : (shown?.['user'] as Claims | undefined);
  };
  return {
    begin: (browser) => browser.get(`${origin}/login`),
    signedIn: async (browser) => (await browser.get(`${origin}/`)).text.includes('Sign out'),
    idToken: async () => undefined,
    profile,
    async refresh(browser, running) {
      await running.send(ALMOST);
      await profile(browser);
    },
    async signOut(browser) {
      const home = await browser.get(`${origin}/`);
      return browser.submit(origin, home, {});
    },
  };
}

/** The example of Auth.js, which begins with a form. */
export const authJs = (origin: string): App => ({
  ...example(origin, '/auth/session'),
  begin: (browser) => beginAtAuthJs(browser, `${origin}/auth`),
});

/** An app of interop/clients/node with Auth.js. */
export const uniformAuthJs = (origin: string): App => ({
  ...uniform(origin),
  begin: (browser) => beginAtAuthJs(browser, `${origin}/api/auth`),
});

async function beginAtAuthJs(browser: Browser, base: string): Promise<Answer> {
  const page = await browser.get(`${base}/signin`);
  const [, csrfToken = ''] = /name="csrfToken" value="(\w+)"/.exec(page.text) ?? [];
  return browser.post(`${base}/signin/tessera`, { csrfToken });
}

/** oauth2-proxy, which shows the claims by the names of its session. */
export function behindOauth2Proxy(origin: string): App {
  async function claims(browser: Browser): Promise<Claims | undefined> {
    const shown = object(await browser.get(`${origin}/oauth2/userinfo`));
    return shown && { sub: shown['user'], preferred_username: shown['preferredUsername'], email: shown['email'] };
  }
  return {
    begin: (browser) => browser.get(`${origin}/oauth2/start?rd=/`),
    signedIn: async (browser) => (await browser.get(`${origin}/oauth2/auth`)).status === 202,
    idToken: claims,
    profile: claims,
    async refresh(browser) {
      // It refreshes with the next request, if a second has passed since the last time.
      await wait(1100);
      await browser.get(`${origin}/`);
    },
    signOut: (browser) => browser.get(`${origin}/oauth2/sign_out`),
  };
}

/** An application behind Apache, which answers with the headers that it got. */
export function behindApache(origin: string): App {
  const visit = (browser: Browser) => browser.get(`${origin}/app/`);
  async function claims(browser: Browser): Promise<Claims | undefined> {
    const headers = object(await visit(browser));
    if (headers === undefined) return undefined;
    const prefix = 'oidc_claim_';
    const own = Object.entries(headers).filter(([name]) => name.startsWith(prefix));
    return Object.fromEntries(own.map(([name, value]) => [name.slice(prefix.length), value]));
  }
  return {
    begin: visit,
    signedIn: async (browser) => (await visit(browser)).status === 200,
    // The headers hold the claims of the ID token and of UserInfo in one.
    idToken: async () => undefined,
    profile: claims,
    refresh: async (browser) => void (await visit(browser)),
    signOut: (browser) => browser.get(`${origin}/app/redirect_uri?${new URLSearchParams({ logout: `${origin}/` })}`),
  };
}
