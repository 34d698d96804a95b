// store: SQLite
/**
 * How many statements each page of the console makes. Each of them goes by an index: test/support/plan-checker.ts fails where one does not.
 */
import assert from 'node:assert/strict';
import { StatementSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { newOperator } from '../support/console.ts';
import { admin, newClient, newUser, signedIn, tokensFor } from '../support/flow.ts';
import { startServer } from '../support/server.ts';

const made: string[] = [];
for (const name of ['all', 'run', 'get', 'iterate'] as const) {
  const original: unknown = Reflect.get(StatementSync.prototype, name);
  assert.ok(typeof original === 'function');
  Reflect.set(StatementSync.prototype, name, function (this: StatementSync, ...parameters: unknown[]) {
    made.push(this.sourceSQL);
    return Reflect.apply(original, this, parameters);
  });
}

/** Who asks, and what they hold: the session and the roles, at the gate and in each unit of work. */
const WHO_ASKS =
  /^select ("s"\."hash"|"id" from "account" where "id" (= \?|in \(\?, \?\) order by "id") $|"id", "account_id", "role"|"account_id" as "accountId", "organization_id" as "organizationId", "role", "role_maker_id" as "makerId", "role_given_at" as "createdAt" from "membership" where "role" in \(\?, \?\) and "account_id" = \? *$)/;
/** What the service does by itself, at any time. */
const BY_ITSELF =
  /^(EXPLAIN|SELECT seq|[^"]*"(logout_notice|mail_request|data_export|node_lease|rate_count|mail|counted_event)")/;

const server = await startServer();
after(() => server.close());
const { browser } = await newOperator(server, 'owner');
const user = await newUser(server);
const app = await newClient(server);
await tokensFor(server, app, user, {}, { browser: await signedIn(server, user) });

const group: string = (await admin(server, 'POST', '/groups', { name: 'analysts' })).body.id;

const organization: string = (await admin(server, 'POST', '/organizations', { name: 'engines', domain: 'e.example' }))
  .body.id;
await admin(server, 'PUT', `/organizations/${organization}/members/${user.id}`, { role: 'MEMBER' });
const input = { name: 'staff', issuer: 'https://id.example', clientId: 'tessera' };
const upstream: string = (await admin(server, 'POST', '/upstreams', input)).body.id;
const key: string = (await admin(server, 'POST', '/admin-keys', { name: 'A program', role: 'auditor' })).body.id;

/** The most statements of each page, besides those about who asks. */
const PAGES: Readonly<Record<string, number>> = {
  // What is counted, what waits for an operator, and what the server finds about itself.
  '/console/overview': 3,
  '/console/overview?period=month': 3,
  '/console/system': 2,
  '/console/system/mail': 1,
  // People by the beginning of a name, and everything else by a part of it.
  '/console/search?text=user': 2,
  '/console/people': 1,
  '/console/people?q=user': 1,
  // The person, that the page was opened, and what it shows.
  [`/console/people/${user.id}`]: 3,
  [`/console/people/${user.id}/sessions`]: 3,
  [`/console/people/${user.id}/apps`]: 3,
  [`/console/people/${user.id}/memberships`]: 3,
  '/console/people/bulk': 1,
  // Whether a proof is due.
  '/console/people/bulk/new?act=suspend': 1,
  '/console/people/export': 1,
  '/console/events/export': 1,
  '/console/groups': 1,
  [`/console/groups/${group}`]: 2,
  '/console/upstreams': 1,
  '/console/upstreams?q=staff': 1,
  // The provider, with the organizations that name it.
  [`/console/upstreams/${upstream}`]: 1,
  // Whether a proof is due, the provider with the organizations that name it, and who is signed in.
  [`/console/upstreams/switch-off?id=${upstream}`]: 3,
  '/console/organizations': 1,
  '/console/organizations?q=engine': 1,
  // With the provider through which alone its members sign in.
  [`/console/organizations/${organization}`]: 3,
  [`/console/organizations/${organization}/groups`]: 2,
  [`/console/organizations/${organization}/apps`]: 2,
  [`/console/organizations/${organization}/roles`]: 2,
  [`/console/organizations/${organization}/invitations`]: 2,
  '/console/invitations': 1,
  '/console/operators': 1,
  '/console/keys': 1,
  [`/console/keys/${key}`]: 1,
  // The key, and what was made with it, of each kind the newest.
  [`/console/keys/${key}/made`]: 2,
  '/console/apps': 1,
  [`/console/apps/${app.clientId}`]: 3,
  '/console/apps/scope-requests': 1,
  // The app, the person, and whether a proof is due.
  [`/console/apps/preview?app=${app.clientId}&user=${user.id}`]: 3,
  // The app, its steps, and the names that people share with it.
  [`/console/apps/${app.clientId}/log`]: 3,
  [`/console/apps/${app.clientId}/try`]: 1,
  [`/console/explain?app=${app.clientId}`]: 1,
  '/console/explain': 1,
  // The trail is searched within its first and last event.
  '/console/events': 3,
};

for (const [address, most] of Object.entries(PAGES)) {
  test(`${address.replaceAll(/\d{5,}/g, ':id')} makes at most ${most} statements of its own`, async () => {
    // Background work may fall into one of them, and not into all.
    const counts: number[] = [];
    for (let round = 0; round < 3; round++) {
      made.splice(0);
      assert.equal((await browser.get(address)).status, 200);
      counts.push(made.filter((sql) => !WHO_ASKS.test(sql) && !BY_ITSELF.test(sql)).length);
    }
    assert.ok(Math.min(...counts) > 0 && Math.min(...counts) <= most, `${counts}: ${made.join('\n')}`);
  });
}
