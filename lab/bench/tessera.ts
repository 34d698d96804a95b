import { join } from 'node:path';
import type { IdTokenAlg } from '../../src/keys/algorithms.ts';
import { digest } from '../../src/platform/crypto/secrets.ts';
import { cookieStyle } from '../../src/web/browser/browser.ts';
import { freePort } from './free-port.ts';
import type { Answer } from './load.ts';
import { pack } from './requests.ts';
import { type Environment, type Seed, seed } from './seed.ts';
import { SERVE } from './service.ts';
import { authorizationQuery, BASE_URL, PASSWORD, REDIRECT_URI } from './setting.ts';
import { atRandom, codeIn, get, member, post, ready, type Subject, startProgram } from './subject.ts';

/** A seeded database and its current refresh tokens. */
export interface Population {
  readonly environment: Environment;
  readonly people: number;
  readonly seeded: Seed;
  /** Refresh tokens that replaced the first ones. */
  readonly refreshTokens: Map<number, string>;
  readonly database?: number | undefined;
}

export async function populate(
  environment: Environment,
  people: number,
  database?: number | undefined,
  idTokenAlg?: IdTokenAlg,
): Promise<Population> {
  const seeded = await seed({ ...environment, TESSERA_BASE_URL: BASE_URL }, people, idTokenAlg);
  return { environment, people, seeded, refreshTokens: new Map(), database };
}

/** As in production, except that limits are counted and too high to be reached. */
export const serviceEnvironment = (port: number): Environment => ({
  TESSERA_BASE_URL: BASE_URL,
  TESSERA_PORT: String(port),
  TESSERA_METRICS_ADDRESS: '127.0.0.1:0',
  TESSERA_LIMIT_TOKEN: '100000000/m',
  TESSERA_LIMIT_AUTHORIZATION: '100000000/m',
  TESSERA_LIMIT_FORM_ACCOUNT: '100000000/m',
  TESSERA_LIMIT_SESSION_ACCOUNT: '100000000/m',
});

interface StartOptions {
  readonly folder: string;
  readonly processes?: number;
  /** The arguments of `node`. */
  readonly command?: readonly string[];
}

/** Starts this many server processes on a seeded database, on one port. */
export async function startTessera(
  name: string,
  population: Population,
  { folder, processes = 1, command = SERVE }: StartOptions,
): Promise<Subject> {
  const { environment, people, seeded, database } = population;
  const port = await freePort();
  const log = join(folder, `${name.replaceAll(/\W+/g, '-')}-${people}.log`);
  const args = [...command, '--processes', String(processes)];
  const child = startProgram(args, { environment: { ...environment, ...serviceEnvironment(port) }, log });
  await ready({ process: child, port }, '/health/ready');
  return {
    name,
    people,
    processes,
    stateless: true,
    process: child,
    port,
    database,
    sample: seeded.sample,
    sessions: seeded.sessions,
    ...protocol(port, population),
  };
}

const TOKEN = '/api/v2/oauth/token';
const cookie = cookieStyle(BASE_URL);

/** The cookies of the browser in which a user of a seeded database is signed in. */
export const sessionCookies = (seeded: Pick<Seed, 'sessionOf'>, person: number): string =>
  `${cookie.browser}=${digest(`browser ${person}`)}; ${cookie.session}=${seeded.sessionOf(person)}`;

/** The requests of the users of a seeded database to the server on a port. */
export function protocol(port: number, { seeded, refreshTokens }: Pick<Population, 'seeded' | 'refreshTokens'>) {
  const json = (body: object) => post(TOKEN, 'application/json', JSON.stringify(body));
  const credentials = (person: number) => {
    const { id, secret } = seeded.clientOf(person);
    return { client_id: id, client_secret: secret };
  };
  return {
    async userInfo(count: number) {
      const request = (person: number) =>
        get('/api/v2/oauth/userinfo', `Authorization: Bearer ${seeded.accessToken(person)}`);
      return pack(atRandom(count, seeded.sample).values().map(request));
    },
    refresh(person: number) {
      const token = refreshTokens.get(person) ?? seeded.firstRefreshToken(person);
      return json({ grant_type: 'refresh_token', ...credentials(person), refresh_token: token });
    },
    refreshed(person: number, { status, body }: Answer) {
      const token = member(body, 'refresh_token');
      if (token !== undefined) refreshTokens.set(person, token);
      return status === 200 && token !== undefined;
    },
    authorize(person: number) {
      const path = `/api/v2/oauth/authorize?${authorizationQuery(seeded.clientOf(person).id)}`;
      return get(path, `Cookie: ${sessionCookies(seeded, person)}`);
    },
    exchange(person: number, answer: Answer) {
      const code = codeIn(answer);
      if (code === undefined) return undefined;
      return json({ grant_type: 'authorization_code', ...credentials(person), code, redirect_uri: REDIRECT_URI });
    },
    async signIn(browsers: number) {
      const visits = await Promise.all(
        Array.from({ length: browsers }, async (_, browser) => {
          const sent = `${cookie.browser}=${digest(`load ${browser}`)}`;
          const page = await fetch(`http://127.0.0.1:${port}/login`, { headers: { cookie: sent } });
          const token = /name="form_token" value="([^"]+)"/.exec(await page.text())?.[1];
          if (token === undefined) throw new Error('the sign-in page has no form token');
          return { sent, token };
        }),
      );
      return (browser: number) => {
        const { sent, token } = visits[browser] ?? { sent: '', token: '' };
        const identifier = seeded.usernameOf(Math.floor(Math.random() * seeded.sample));
        const form = new URLSearchParams({ form_token: token, identifier, password: PASSWORD }).toString();
        return post('/login', 'application/x-www-form-urlencoded', form, `Cookie: ${sent}\r\n`);
      };
    },
  };
}
