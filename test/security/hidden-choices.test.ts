// store: SQLite, PostgreSQL with --all
/**
 * Decisions §12: what a role may not see is absent from lists, and so it chooses no list. The help desk sees people, and neither groups,
 * organizations nor apps: nothing that it opens or fills in names who is in one, or tells one that exists from one that does not.
 */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { bulkActNames } from '../../src/account-actions/bulk/acts.ts';
import type { Answer } from '../support/agent.ts';
import { newOperator, open } from '../support/console.ts';
import { admin, newUser } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const server = await startServer({ TESSERA_LIMIT_FORM_ACCOUNT: 'off' });
after(() => server.close());

const call = async (method: string, path: string, body?: object) => {
  const answer = await admin(server, method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
};

const support = await newOperator(server, 'support');
const member = await newUser(server, { displayName: 'Somebody hidden' });
const organization = await call('POST', '/organizations', { name: 'zebra-org', domain: 'zebra.example' });
await call('PUT', `/organizations/${organization.id}/members/${member.id}`, { role: null });
const group = await call('POST', '/groups', { name: 'zebra-group', displayName: 'Zebra group' });
const own = await call('POST', '/groups', {
  name: 'zebra-own',
  displayName: 'Zebra own',
  organizationId: organization.id,
});
for (const { id } of [group, own]) await call('PUT', `/groups/${id}/members/${member.id}`);
const app = await call('POST', '/clients', { name: 'Zebra app', redirectUris: ['https://zebra.example/cb'] });
await call('POST', `/clients/${app.clientId}/assignments`, { groupId: group.id });

/** How each object is named, and how one would be that does not exist. */
const NAMED: readonly [kind: string, name: string, unknown: string][] = [
  ['a group of the installation', 'zebra-group', 'horse-group'],
  ['its id', group.id, '1234567890123456'],
  ['the id of a group of an organization', own.id, '1234567890123456'],
  ['an organization', 'zebra-org', 'horse-org'],
  ['its id', organization.id, '1234567890123456'],
  ['the id of an app', app.clientId, '1234567890123456'],
];

/** What a page says, without what was typed into it and the values of its forms. */
const said = ({ status, text }: Answer, typed: string): string =>
  `${status} ${text
    .replaceAll(/<input[^>]*>/g, '')
    .replaceAll(/(?:nonce|correlation)[^<]*/gi, '')
    .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, '')
    .replaceAll(typed, '…')}`;

describe('the help desk', () => {
  test('finds neither groups, organizations nor apps on the pages that it can open', async () => {
    const seen = new Set<string>();
    const waiting = ['/console', `/console/people/${member.id}`, '/console/people?q=zebra', '/console/people/bulk'];
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) {
      if (seen.has(path) || seen.size > 60) continue;
      seen.add(path);
      const page = await open(server, support, path);
      assert.doesNotMatch(
        page.text.replaceAll('q=zebra', '').replaceAll('value="zebra"', ''),
        /zebra[ -](?:org|group|own|app)/i,
        path,
      );
      for (const [, href = ''] of page.text.matchAll(/<a[^>]* href="([^"#]+)/g)) {
        const { pathname, search, origin } = new URL(href.replaceAll('&amp;', '&'), server.baseUrl);
        if (origin === server.baseUrl && pathname.startsWith('/console')) waiting.push(pathname + search);
      }
    }
    assert.ok(seen.size > 10, [...seen].join(' '));
  });

  for (const act of bulkActNames) {
    for (const [kind, name, unknown] of act === 'end-sessions' ? NAMED : NAMED.slice(0, 3)) {
      test(`learns nothing of ${kind} by the act on many people “${act}”`, async () => {
        const address = '/console/people/bulk/new';
        const fill = async (typed: Readonly<Record<string, string>>): Promise<Answer> => {
          // The form of an act that it may do: who it is for, and what act, are its to change.
          const page = await open(server, support, `${address}?act=end-sessions`);
          return support.browser.submit(page, { act, ...typed }, address);
        };
        // Who they are is typed for all of them alike.
        const fields = act === 'end-sessions' ? ['members', 'text', 'names'] : ['members', 'group'];
        for (const field of fields) {
          const others = field === 'group' ? { names: support.username } : {};
          const [answer, other] = [
            await fill({ ...others, [field]: name }),
            await fill({ ...others, [field]: unknown }),
          ];
          assert.ok(!answer.text.includes(member.id), `${field} names who is in it`);
          if (field !== 'group' || answer.status !== 200) assert.equal(said(answer, name), said(other, unknown), field);
        }
      });
    }
  }

  test('is not offered to choose people by a group', async () => {
    const page = await open(server, support, `/console/people/bulk/new?act=suspend&members=${group.id}`);
    assert.equal(page.status, 200);
    assert.doesNotMatch(page.text, /name="members"/);
    const typed = await support.browser.submit(page, { members: 'zebra-group' }, '/console/people/bulk/new');
    assert.equal(typed.status, 403);
    assert.match(typed.text, /groups\.read/);
    const owner = await newOperator(server, 'owner');
    const theirs = await open(server, owner, `/console/people/bulk/new?act=suspend&members=${group.id}`);
    assert.match(theirs.text, /name="members"/);
  });
});
