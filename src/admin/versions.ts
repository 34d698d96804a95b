import type { FastifyInstance } from 'fastify';
import { grantsOf } from '../access/operator-grant-store.ts';
import { lockAssignment } from '../access/store.ts';
import { assignmentView } from '../access/view.ts';
import { madeBy } from '../account-actions/makers/list-made.ts';
import { grantView } from '../account-actions/operators/grants.ts';
import { membershipView, organizationView } from '../account-actions/organizations/organizations.ts';
import { lockAccount, takeAccountLock } from '../accounts/store.ts';
import { accountView } from '../accounts/view.ts';
import { makingDatabase } from '../admin-keys/hand-out.ts';
import { findAdminKey } from '../admin-keys/store.ts';
import { lockAllowedScopes } from '../clients/api-scopes.ts';
import { holdClient, lockClient } from '../clients/store.ts';
import { clientView } from '../clients/view.ts';
import { lockGroup } from '../groups/store.ts';
import { groupView } from '../groups/view.ts';
import { findMemberRole, findOrganization, lockMember, lockOrganization } from '../organizations/store.ts';
import { digest } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { beforeFirstCommit } from '../platform/database/first-commit.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { OAuthError } from '../platform/oauth-error.ts';
import { findUpstreamOfOrganization } from '../upstreams/only-store.ts';
import { lockAmongAll } from '../upstreams/store.ts';
import { upstreamView } from '../upstreams/view.ts';
import type { CallerServices } from './guard.ts';
import { adminKeyView } from './keys.ts';
import { madeView } from './operator-routes.ts';

/** A kind of record that has versions. */
export type Versioned =
  | 'user'
  | 'client'
  | 'group'
  | 'organization'
  | 'membership'
  | 'assignment'
  | 'roles'
  | 'admin key'
  | 'upstream'
  | 'only upstream'
  | 'allowed scopes';

declare module 'fastify' {
  interface FastifySchema {
    /** The kind of record that a route is about, which its path names: its answer has the `ETag`, and a change heeds `If-Match`. */
    versioned?: Versioned;
    /** Its answer is not the record, and has no `ETag`. */
    answersOther?: true;
  }
}

type View = Readonly<Record<string, unknown>>;

/** The ids that a path names, in its order. */
type PathIds = readonly [string, ...string[]];

/** What is no part of a version, because it changes by itself: a secret is used, a claim was too long; and the members of an organization. */
const APART = ['secrets', 'claimsLeftOut', 'members', 'lastUsedAt', 'nextCursor'];
/** What the answer to a change tells beside the record. Of an admin key, what was made with it is a part of the version. */
const BESIDE: Readonly<Partial<Record<Versioned, readonly string[]>>> = {
  user: ['made', 'ended'],
  membership: ['made', 'ended'],
  // They follow from the name, which never changes.
  upstream: ['redirectUri', 'backchannelLogoutUri'],
  'only upstream': ['ended'],
};

/** The entity tag of a record: RFC 9110 §8.8.3. It differs for any two states of what can be changed. */
function tagOf(kind: Versioned, view: View): string {
  const apart = [...APART, ...(BESIDE[kind] ?? [])];
  const counted = Object.entries(view).filter(([name]) => !apart.includes(name));
  return `"${digest(JSON.stringify(counted, (name, value) => (name === 'lastUsedAt' ? undefined : value)))}"`;
}

/** Reads a record by the ids of its path, and locks it against changes until the unit of work ends, as the API shows it. */
const CURRENT: Readonly<Record<Versioned, (ids: PathIds, now: number) => Work<View | undefined>>> = {
  *user([id], now) {
    const account = yield* lockAccount({ id });
    return account && accountView(account, now);
  },
  *client([id]) {
    const client = yield* lockClient({ id });
    return client && clientView({ client, secrets: [] });
  },
  *group([id]) {
    const group = yield* lockGroup({ id });
    return group && groupView(group);
  },
  *organization([id]) {
    yield* lockOrganization({ id });
    const organization = yield* findOrganization({ id });
    return organization && organizationView(organization);
  },
  *membership([organizationId, accountId = '']) {
    yield* takeAccountLock({ id: accountId });
    const member = { organizationId, accountId };
    if ((yield* lockMember(member)) === undefined) return undefined;
    const found = yield* findMemberRole(member);
    return found && membershipView({ ...member, role: found.role });
  },
  *assignment([clientId, id = '']) {
    yield* holdClient({ id: clientId });
    const assignment = yield* lockAssignment({ id, clientId });
    return assignment && assignmentView(assignment);
  },
  *roles([id]) {
    if ((yield* lockAccount({ id })) === undefined) return undefined;
    return { items: (yield* grantsOf(id)).map(grantView) };
  },
  // Those who make and revoke keys come one after the other.
  *'admin key'([id], now) {
    const key = yield* findAdminKey({ id });
    return key && { ...adminKeyView(key, now), made: madeView(yield* madeBy(id, now), now) };
  },
  *upstream([id]) {
    const upstream = yield* lockAmongAll({ id });
    return upstream && upstreamView(upstream, '');
  },
  *'only upstream'([id]) {
    yield* lockOrganization({ id });
    if ((yield* findOrganization({ id })) === undefined) return undefined;
    return { upstreamId: (yield* findUpstreamOfOrganization({ organizationId: id })) ?? null };
  },
  *'allowed scopes'([apiId, clientId = '']) {
    const found = yield* lockAllowedScopes(apiId, clientId);
    return found && { ...found };
  },
};

/** Whether an answer is the record itself. What a deletion answers is not, nor is one role all of them. */
const isRecordOf = (kind: Versioned, method: string): boolean =>
  kind === 'roles' ? method === 'GET' : method !== 'DELETE';

/** RFC 9110 §13.1.1, with the version that was meant and the one that is there. */
function precondition(meant: string, current: string): OAuthError {
  const text = `The record was changed since it was read: If-Match has ${meant}, and its version is ${current} now. Read it again, and decide whether your change still holds.`;
  return new OAuthError(412, 'precondition_failed', text, { etag: current }, undefined, {
    expected: 'the version of the record that is there now',
    received: 'If-Match with an older version',
    remedy: 'Read the record again, and decide whether the change still holds.',
  });
}

/** RFC 9110 §13.1.1: no version is that of a record that is gone. */
function ended(meant: string): OAuthError {
  const text = `The record was removed since it was read: If-Match has ${meant}, and there is no version of it now. Leave If-Match out to make it again.`;
  return new OAuthError(412, 'precondition_failed', text, {}, undefined, {
    expected: 'the version of a record that is there',
    received: 'If-Match with a version of a record that was removed',
    remedy: 'Leave If-Match out to make the record again.',
  });
}

/** @throws {OAuthError} 400 for what is no list of entity tags */
function readTags(header: string): readonly string[] | 'any' {
  if (header.trim() === '*') return 'any';
  const tags = header.split(',').map((tag) => tag.trim());
  if (tags.every((tag) => /^(W\/)?"[\x21\x23-\x7e]*"$/.test(tag)) && tags.length <= 16) return tags;
  const description = 'If-Match must be an ETag of the record, in double quotes, or *.';
  throw new OAuthError(400, 'invalid_request', description, {}, undefined, {
    rule: 'RFC 9110 §13.1.1',
    expected: 'an ETag in double quotes, or *',
    received: 'If-Match with something else, such as a version without quotes',
    remedy: 'Send the ETag of the record as it came, double quotes included.',
  });
}

/**
 * A database whose first commit requires that a record still has one of the versions, before anything else of it: of two callers who read
 * the same version one changes it, and the other is told.
 */
const conditional = (
  database: Database,
  kind: Versioned,
  ids: PathIds,
  tags: readonly string[],
  now: number,
): Database =>
  beforeFirstCommit(database, function* check() {
    const view = ids.every(isSnowflake) ? yield* CURRENT[kind](ids, now) : undefined;
    if (view === undefined) {
      // Setting one of these would make it again. Any other act itself says that there is no such record.
      if (kind === 'membership' || kind === 'allowed scopes') throw ended(tags.join(', '));
    } else if (!tags.includes(tagOf(kind, view))) {
      throw precondition(tags.join(', '), tagOf(kind, view));
    }
  });

/** Gives records their version, and heeds `If-Match` where they are changed: decisions §13. */
export function versionRecords(admin: FastifyInstance): void {
  admin.addHook('preHandler', async ({ method, headers, params, adminCaller, routeOptions: { schema } }, reply) => {
    const kind = schema?.versioned;
    const header = headers['if-match'];
    if (kind === undefined || header === undefined || adminCaller === undefined || method === 'GET') return;
    const tags = readTags(header);
    if (tags === 'any') return;
    const [first = '', ...others] = Object.values(params as Readonly<Record<string, string>>);
    // A role is one of all that a person has.
    const ids: PathIds = kind === 'roles' ? [first] : [first, ...others];
    const { services } = adminCaller;
    // Acts that hand something out come one after the other, before anything is locked.
    const handsOut = kind === 'user' || kind === 'membership' || kind === 'roles' || kind === 'admin key';
    const base = handsOut ? makingDatabase(services.database) : services.database;
    const database = conditional(base, kind, ids, tags, services.clock());
    const conditioned: CallerServices = { ...services, database };
    reply.request.adminCaller = { ...adminCaller, services: conditioned };
  });
  admin.addHook('preSerialization', async ({ method, routeOptions: { schema } }, reply, payload) => {
    const kind = schema?.answersOther === true ? undefined : schema?.versioned;
    const isAnswer = typeof payload === 'object' && payload !== null && reply.statusCode < 300;
    if (kind !== undefined && isAnswer && isRecordOf(kind, method)) reply.header('etag', tagOf(kind, payload as View));
    return payload;
  });
}
