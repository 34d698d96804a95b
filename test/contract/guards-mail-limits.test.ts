// store: SQLite, PostgreSQL with --all
/** What one IP address may ask for: each page that sends mail counts it, whomever the mail is to. PW-09, decisions §11. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Agent, type Answer, agent } from '../support/agent.ts';
import { newUser, signedIn } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { HOUR } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

const LIMIT = 3;
const server = await startServer({
  TESSERA_MAILBOX: 'on',
  TESSERA_SIGN_IN_CODE: 'on',
  TESSERA_LIMIT_MAIL_ADDRESS: `${LIMIT}/h`,
  TESSERA_LIMIT_MAIL_RECIPIENT: 'off',
});
after(() => server.close());

let names = 0;
const freshName = (): string => `recipient-${++names}`;
const mailOf = (name: string): string => `${name}@example.com`;

/** Someone who has an account with a verified address. */
async function recipient(): Promise<string> {
  return (await newUser(server, { emailVerified: true })).username;
}

async function send(browser: Agent, page: string, action: string, fields: Readonly<Record<string, string>>) {
  const answer = await browser.submit(await browser.get(page), fields, action);
  await server.sendRequestedMail();
  return answer;
}

interface Page {
  /** Whom a message is to: a username, which is the start of the address. */
  readonly to: () => Promise<string>;
  readonly ask: (name: string) => Promise<Answer>;
  readonly kind: string;
}

const pages: Readonly<Record<string, Page>> = {
  'a sign-up': {
    to: async () => freshName(),
    ask: (username) =>
      send(agent(server.baseUrl), '/signup', '/signup', {
        ...{ displayName: 'N', username, email: mailOf(username), password: 'quartz lamp river' },
      }),
    kind: 'verify address',
  },
  'a sign-up with a taken address': {
    to: recipient,
    ask: (owner) =>
      send(agent(server.baseUrl), '/signup', '/signup', {
        ...{ displayName: 'N', username: freshName(), email: mailOf(owner), password: 'quartz lamp river' },
      }),
    kind: 'account exists',
  },
  'a change of address': {
    to: async () => freshName(),
    ask: async (name) => {
      const browser = await signedIn(server, await newUser(server, { emailVerified: true }));
      return send(browser, '/account/email', '/account/email', { email: mailOf(name) });
    },
    kind: 'address change',
  },
  'a recovery': {
    to: recipient,
    ask: (identifier) => send(agent(server.baseUrl), '/recover', '/recover', { identifier }),
    kind: 'recovery',
  },
  'a code to sign in': {
    to: recipient,
    ask: (identifier) => send(agent(server.baseUrl), '/login/code', '/login/code', { identifier }),
    kind: 'sign-in code',
  },
};

const messagesTo = async (name: string, kind: string): Promise<number> =>
  (await mailsTo(server, mailOf(name))).filter((mail) => mail.kind === kind).length;
const outcomeOf = ({ status, location }: Answer) => [status, location?.pathname];

for (const [title, { to, ask, kind }] of Object.entries(pages)) {
  test(`${title} sends no more mail than one IP address may ask for, and answers alike`, async () => {
    server.advance(HOUR);
    const answers: unknown[] = [];
    for (let count = 1; count <= LIMIT + 2; count++) {
      const name = await to();
      answers.push(outcomeOf(await ask(name)));
      assert.equal(await messagesTo(name, kind), count <= LIMIT ? 1 : 0, `${count}`);
    }
    for (const answer of answers) assert.deepEqual(answer, answers[0]);
    server.advance(HOUR);
    const later = await to();
    await ask(later);
    assert.equal(await messagesTo(later, kind), 1, 'an hour later');
  });
}

test('all pages count together', async () => {
  server.advance(HOUR);
  for (const [index, { to, ask, kind }] of Object.values(pages).entries()) {
    const name = await to();
    await ask(name);
    assert.equal(await messagesTo(name, kind), index < LIMIT ? 1 : 0, kind);
  }
});
