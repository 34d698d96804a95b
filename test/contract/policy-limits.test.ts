// store: SQLite, PostgreSQL
/** Decisions §12: of those whom no operator chose, one alone makes nothing grow without bound. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { type Agent, cookiesFor } from '../support/agent.ts';
import { signInOnCommandLine } from '../support/command-line.ts';
import { act, newOperator, type TestOperator } from '../support/console.ts';
import { admin } from '../support/flow.ts';
import { HOUR, MINUTE } from '../support/outcome.ts';
import { atSecondStep, totpCode, typeCode } from '../support/second-factor.ts';
import { startServer, type TestServer } from '../support/server.ts';

const APP = { name: 'Own', redirectUris: ['https://own.example/cb'] };
const MOST = 6;

interface Person extends TestOperator {
  readonly token: string;
}

/** A person who is a developer by the policy alone, or by a role as well. */
async function person(server: TestServer, hasRole: boolean): Promise<Person> {
  const found = await newOperator(server, 'developer');
  if (!hasRole) assert.equal((await admin(server, 'DELETE', `/users/${found.id}/roles/developer`)).status, 200);
  return { ...found, token: await signInOnCommandLine(server, { user: found, ...found }) };
}

describe('changes', async () => {
  const server = await startServer({ TESSERA_DEVELOPERS: 'anyone', TESSERA_LIMIT_DEVELOPER_ACCOUNT: `${MOST}/h` });
  after(() => server.close());

  const change = async ({ token }: Person, clientId: string, number: number) =>
    admin(server, 'PATCH', `/clients/${clientId}`, { name: `Name ${number}` }, token);

  test('of a person who is a developer by the policy alone are counted, in the console as well', async () => {
    const [one, other] = [await person(server, false), await person(server, false)];
    const { clientId } = (await admin(server, 'POST', '/clients', APP, one.token)).body;
    for (let number = 2; number < MOST; number++) assert.equal((await change(one, clientId, number)).status, 200);
    const uris = { uris: 'https://other.example/cb' };
    const last = await act(server, one, '/console/apps/redirect-uris', { app: clientId }, uris);
    assert.equal(last.status, 200, last.text);
    const refused = await change(one, clientId, MOST);
    assert.deepEqual([refused.status, refused.body.error], [429, 'rate_limit_exceeded']);
    assert.ok(Number(refused.headers.get('retry-after')) > 0);
    const onPage = await act(
      server,
      one,
      '/console/apps/redirect-uris',
      { app: clientId },
      { uris: 'https://own.example/cb' },
    );
    assert.equal(onPage.status, 429);
    const { body } = await admin(server, 'GET', `/clients/${clientId}`);
    assert.deepEqual([body.name, body.redirectUris], [`Name ${MOST - 1}`, [uris.uris]]);
    const events = (await admin(server, 'GET', `/audit-events?type=limit.exceeded&userId=${one.id}`)).body.items;
    assert.deepEqual(
      events.map(({ details }: { details: { limit: string } }) => details.limit),
      ['developerAccount'],
    );
    // Reading goes on, and so do others.
    assert.equal((await admin(server, 'GET', `/clients/${clientId}`, undefined, one.token)).status, 200);
    assert.equal((await admin(server, 'POST', '/clients', APP, other.token)).status, 201);
    server.advance(HOUR);
    assert.equal((await change(one, clientId, MOST)).status, 200);
  });

  test('of a person to whom the role was given are not', async () => {
    const given = await person(server, true);
    const { clientId } = (await admin(server, 'POST', '/clients', APP, given.token)).body;
    for (let number = 0; number < 2 * MOST; number++) {
      assert.equal((await change(given, clientId, number)).status, 200);
    }
  });
});

describe('registrations and kept answers', async () => {
  const server = await startServer({ TESSERA_DEVELOPERS: 'anyone', TESSERA_DEVELOPER_APPS: '2' });
  after(() => server.close());

  test('who deletes an app makes room for another, twice as often a day as they may have apps', async () => {
    const developer = await person(server, false);
    const register = () => admin(server, 'POST', '/clients', APP, developer.token);
    const replace = async () => {
      const made = await register();
      if (made.status === 201) {
        const path = `/clients/${made.body.clientId}`;
        assert.equal((await admin(server, 'DELETE', path, undefined, developer.token)).status, 204);
      }
      return made;
    };
    for (let time = 0; time < 4; time++) assert.equal((await replace()).status, 201);
    const refused = await replace();
    assert.deepEqual([refused.status, refused.body.error], [429, 'rate_limit_exceeded']);
    assert.match(refused.body.error_description, /registered 4 apps within a day/);
    assert.equal(refused.headers.get('retry-after'), '86400');
    server.advance(24 * HOUR);
    const token = await signInOnCommandLine(server, { user: developer, ...developer });
    assert.equal((await admin(server, 'POST', '/clients', APP, token)).status, 201);
  });

  test('a hundred answers a day are kept of a person who is a developer by the policy alone', async () => {
    const developers = [await person(server, false), await person(server, true)];
    const statuses = developers.map(async ({ token }) => {
      const { clientId } = (await admin(server, 'POST', '/clients', APP, token)).body;
      const issue = async (number: number) => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const answer = await fetch(`${server.baseUrl}/api/v2/admin/clients/${clientId}/secrets`, {
          ...{ method: 'POST', body: '{}' },
          headers: { ...headers, 'idempotency-key': `key-${number}` },
        });
        await answer.arrayBuffer();
        return answer.status;
      };
      const all: number[] = [];
      for (let number = 0; number < 101; number++) all.push(await issue(number));
      // What was kept is given again.
      return [all.slice(0, 100).every((status) => status === 201), all[100], await issue(0)];
    });
    assert.deepEqual(await Promise.all(statuses), [
      [true, 429, 201],
      [true, 201, 201],
    ]);
  });
});

describe('live views', async () => {
  const server = await startServer({ TESSERA_DEVELOPERS: 'anyone', TESSERA_LIMIT_TOTP_ACCOUNT: 'off' });
  after(() => server.close());
  const closing = new AbortController();
  after(() => closing.abort());
  /** A stream that nobody holds any more is closed by the garbage collector. */
  const held: Response[] = [];

  /** Opens a stream as often as asked: how many are let in. */
  async function letIn(browser: Agent, address: string, times: number): Promise<number> {
    const headers = { accept: 'text/event-stream', cookie: cookiesFor(server.baseUrl, browser) };
    let count = 0;
    for (let time = 0; time < times; time++) {
      const answer = await fetch(server.baseUrl + address, { headers, signal: closing.signal });
      const { status } = answer;
      assert.ok(status === 200 || status === 429, `${status}`);
      if (status === 200) count++;
      held.push(answer);
    }
    return count;
  }

  /** How many views each of two sessions of a person is let into. */
  async function ofTwoSessions(by: TestOperator, address: string): Promise<readonly number[]> {
    server.advance(MINUTE);
    const { browser, page } = await atSecondStep(server, by);
    await typeCode(browser, page, totpCode(by.factor, server.now()));
    return [await letIn(by.browser, address, 5), await letIn(browser, address, 5)];
  }

  test('are eight of an account, and leave room for those whom operators chose', async () => {
    const owner = await newOperator(server, 'owner');
    const counts = [];
    for (let number = 0; number < 4; number++) {
      const developer = await person(server, false);
      const { clientId } = (await admin(server, 'POST', '/clients', APP, developer.token)).body;
      counts.push(await ofTwoSessions(developer, `/console/apps/${clientId}/log/live?after=0`));
    }
    assert.deepEqual(counts, [
      [4, 4],
      [4, 4],
      [4, 4],
      [1, 0],
    ]);
    const address = /data-stream="([^"]*)"/.exec((await owner.browser.get('/console/events?live=1')).text)?.[1] ?? '';
    const live = address.replaceAll('&amp;', '&');
    assert.deepEqual(await ofTwoSessions(owner, live), [4, 4]);
    server.advance(MINUTE);
    const { browser, page } = await atSecondStep(server, owner);
    await typeCode(browser, page, totpCode(owner.factor, server.now()));
    assert.equal(await letIn(browser, live, 1), 0, 'a third session of the account');
    assert.equal(await letIn((await newOperator(server, 'auditor')).browser, live, 1), 1);
  });
});
