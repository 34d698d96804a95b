// store: PostgreSQL, SQLite with --all
/** What ends everything of an account, beside logins, consents, refreshes and redemptions: RC-05, AC-08. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import {
  admin,
  type JsonAnswer,
  newClient,
  newUser,
  PASSWORD,
  redeem,
  refresh,
  signedIn,
  type TestUser,
  userinfo,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';
import {
  allow,
  allRefused,
  codeOf,
  codesFor,
  consentPages,
  familiesFor,
  noFault,
  PLACES,
  type Refusal,
  race,
  ready,
  refused,
  SIZES,
  times,
  won,
} from './crowd.ts';

const server = await startServer({ TESSERA_LIMIT_PENDING_ADDRESS: 'off', TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off' });
after(() => server.close());
const client = await newClient(server);

const NEW_PASSWORD = 'a wholly other password';
const INVALID_TOKEN: Refusal = { status: 401, error: 'invalid_token' };
const INVALID_GRANT: Refusal = { status: 400, error: 'invalid_grant' };
const BANNED: Refusal = { status: 403, error: 'access_denied', description: 'Account banned' };
const SUSPENDED: Refusal = { status: 403, error: 'access_denied', description: 'Account is suspended' };

interface Event {
  readonly name: string;
  /** Makes it ready, so that one request does it. */
  prepare(user: TestUser, browser: Agent): Promise<() => Promise<{ readonly status: number }>>;
  readonly status: number;
  readonly atUserInfo: Refusal;
  readonly atToken: Refusal;
  /** Lifts it again, where it bars the account. */
  readonly lift?: string;
  /** Whether a login with the old password may come after it and then holds. */
  readonly newLogins: boolean;
}

/** Sending a form of the page of the account. */
const byForm = (action: string, fields: Record<string, string>) => async (_user: TestUser, browser: Agent) =>
  ready(browser, await browser.get('/account/security'), action, fields);

const dead = { atUserInfo: INVALID_TOKEN, atToken: INVALID_GRANT };
const EVENTS: readonly Event[] = [
  {
    name: 'a ban',
    prepare:
      async ({ id }) =>
      () =>
        admin(server, 'PUT', `/users/${id}/ban`, {}),
    status: 200,
    ...{ atUserInfo: BANNED, atToken: BANNED, lift: 'ban', newLogins: false },
  },
  {
    name: 'a suspension',
    prepare:
      async ({ id }) =>
      () =>
        admin(server, 'PUT', `/users/${id}/suspension`, {}),
    status: 200,
    ...{ atUserInfo: SUSPENDED, atToken: SUSPENDED, lift: 'suspension', newLogins: false },
  },
  {
    name: 'a new password by an operator',
    prepare:
      async ({ id }) =>
      () =>
        admin(server, 'PATCH', `/users/${id}`, { password: NEW_PASSWORD }),
    ...{ status: 200, ...dead, newLogins: false },
  },
  {
    name: 'a new password by the person',
    prepare: byForm('/account/password', { current: PASSWORD, password: NEW_PASSWORD }),
    ...{ status: 200, ...dead, newLogins: false },
  },
  {
    name: 'signing out everywhere',
    prepare: byForm('/account/sign-out-everywhere', {}),
    ...{ status: 200, ...dead, newLogins: true },
  },
];

/** How many sign-ins race: each costs a password hash, and too many at once are refused as overload. */
const LOGINS = 6;

async function signInForm(user: TestUser) {
  const browser = agent(server.baseUrl);
  const page = await browser.get('/login');
  return { browser, send: ready(browser, page, '/login', { identifier: user.username, password: PASSWORD }) };
}

const isOpen = async (browser: Agent): Promise<boolean> => (await browser.get('/account')).status === 200;

/** A crowd at work in one account, and all that it got. */
async function crowdFor(user: TestUser, browser: Agent, size: number) {
  const families = await familiesFor(server, client, user, browser, size);
  const codes = await codesFor(server, client, user, browser, size);
  const pages = await consentPages(browser, client, size);
  const logins = await Promise.all(times(LOGINS, () => signInForm(user)));
  const answers: JsonAnswer[] = [];
  const redirects: Answer[] = [];
  const entries: Answer[] = [];
  const keep = <A>(list: A[], answer: Promise<A>) => answer.then((one) => void list.push(one));
  const requests = times(size, (index) => [
    () => keep(answers, refresh(server, client, families[index]?.refresh_token ?? '')),
    () => keep(answers, redeem(server, client, codes[index] ?? '')),
    () => keep(redirects, allow(browser, pages[index] as Answer)),
  ]).flat();
  // The sign-ins go first: while their passwords are hashed, the rest happens.
  const crowd = [
    ...logins.map(
      ({ send }) =>
        () =>
          keep(entries, send()),
    ),
    ...requests,
  ];
  return { families, codes, logins, answers, redirects, entries, crowd };
}

async function codesRefused(codes: readonly string[], refusal: Refusal): Promise<void> {
  for (const answer of await Promise.all(codes.map((code) => redeem(server, client, code)))) refused(answer, refusal);
}

for (const event of EVENTS) {
  describe(`decisions §5: when ${event.name} has returned, nothing from before works`, () => {
    for (const size of SIZES) {
      // The most are many enough to be anywhere among them.
      const places = size === SIZES.at(-1) ? { amid: PLACES.amid } : PLACES;
      for (const [when, place] of Object.entries(places)) {
        test(`${when} of ${size} refreshes, redemptions and consents, and ${LOGINS} logins`, async () => {
          const user = await newUser(server);
          const browser = await signedIn(server, user);
          // Another browser does the event, so that its new session is not among those that must be dead.
          const happens = await event.prepare(user, await signedIn(server, user));
          const got = await crowdFor(user, browser, size);
          const look = () => userinfo(server, got.families[0]?.access_token);
          const { event: done, atOnce } = await race(got.crowd, place, happens, look);

          assert.equal(done.status, event.status);
          refused(atOnce, event.atUserInfo);
          noFault([...got.answers, ...got.redirects, ...got.entries]);
          assert.deepEqual([got.answers.length, got.redirects.length, got.entries.length], [2 * size, size, LOGINS]);
          for (const answer of got.answers) if (answer.status !== 200) refused(answer, event.atToken);
          const tokens = [...got.families, ...won(got.answers)];
          const codes = [...got.codes, ...got.redirects.flatMap((answer) => codeOf(answer) ?? [])];
          await allRefused(server, client, tokens, event.atUserInfo, event.atToken);
          await codesRefused(codes, event.atToken);
          assert.equal(await isOpen(browser), false, 'the session from before');

          if (event.lift !== undefined) {
            const lifted = await admin(server, 'DELETE', `/users/${user.id}/${event.lift}`);
            assert.equal(lifted.status, 200);
            await allRefused(server, client, tokens, INVALID_TOKEN, INVALID_GRANT);
            await codesRefused(codes, INVALID_GRANT);
          }
          // A login that came after a sign-out everywhere holds; every other event leaves none alive.
          const open = await Promise.all(got.logins.map(({ browser: entered }) => isOpen(entered)));
          if (!event.newLogins) assert.deepEqual(new Set(open), new Set([false]), 'sessions of racing logins');
        });
      }
    }
  });
}
