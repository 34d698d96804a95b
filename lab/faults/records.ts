import { DatabaseSync } from 'node:sqlite';
import { connected } from '../../test/support/ask-postgres.ts';
import { claimsOf } from '../../test/support/flow.ts';
import { type Ledger, liveOf } from './ledger.ts';

type Row = Readonly<Record<string, string | null>>;

/** Everything that must fit together, read in one moment straight from the database, with all values as texts. */
const QUERIES = {
  families: `SELECT f.id, f.grant_id, f.account_id, f.client_id, f.sequence, f.leaf_jti, f.predecessor_jti, f.dead_at,
    f.account_generation, a.generation AS account_now, a.banned_at, a.suspended_at, g.revoked_at, g.id AS grant_found,
    a.id AS account_found, c.id AS client_found FROM token_family f LEFT JOIN account a ON a.id = f.account_id
    LEFT JOIN consent_grant g ON g.id = f.grant_id LEFT JOIN client c ON c.id = f.client_id`,
  grants: 'SELECT id, account_id, client_id, revoked_at FROM consent_grant',
  codes: 'SELECT grant_id, redeemed_at, family_id FROM authorization_code',
  accounts: 'SELECT id, banned_at, suspended_at FROM account',
  events: 'SELECT id, type, account_id, client_id, details FROM audit_event ORDER BY id',
} as const;

export type Snapshot = Readonly<Record<keyof typeof QUERIES, readonly Row[]>>;

const texts = (rows: readonly Readonly<Record<string, unknown>>[]): Row[] =>
  rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)])),
  );

/** @throws where SQLite itself finds its file damaged */
function readSqlite(path: string): Snapshot {
  const database = new DatabaseSync(path, { timeout: 5000 });
  try {
    database.exec('BEGIN');
    const found = Object.entries(QUERIES).map(([name, sql]) => {
      const statement = database.prepare(sql);
      statement.setReadBigInts(true);
      return [name, texts(statement.all())] as const;
    });
    database.exec('COMMIT');
    const [health] = database.prepare('PRAGMA integrity_check').all();
    if (health?.['integrity_check'] !== 'ok') throw new Error(`the file is damaged: ${JSON.stringify(health)}`);
    return Object.fromEntries(found) as unknown as Snapshot;
  } finally {
    database.close();
  }
}

const readPostgres = (url: string): Promise<Snapshot> =>
  connected(url, async (client) => {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const found: [string, Row[]][] = [];
    for (const [name, sql] of Object.entries(QUERIES)) found.push([name, texts((await client.query(sql)).rows)]);
    await client.query('COMMIT');
    return Object.fromEntries(found) as unknown as Snapshot;
  });

/** @param url as the service is given it */
export const readRecords = async (url: string): Promise<Snapshot> =>
  url.startsWith('sqlite:') ? readSqlite(url.slice('sqlite:'.length)) : readPostgres(url);

function count(keys: Iterable<string | null>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const key of keys) if (key !== null) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

/** What does not fit together: a change without its record or the reverse, and whatever hangs on nothing. */
export function contradictions({ families, grants, codes, accounts, events }: Snapshot): string[] {
  const wrong: string[] = [];
  const details = events.map((event) => ({
    ...event,
    ...(JSON.parse(event['details'] ?? '{}') as { familyId?: string; grantId?: string }),
  }));
  const of = (type: string, key: 'familyId' | 'grantId' | 'account_id') =>
    count(details.filter((event) => event['type' as never] === type).map((event) => event[key as 'familyId'] ?? null));
  const [issued, refreshed] = [of('token.issued', 'familyId'), of('token.refreshed', 'familyId')];
  const killed = new Set(
    [...of('token.code_replayed', 'familyId'), ...of('token.refresh_reused', 'familyId')].map(([id]) => id),
  );
  const redeemed = count(codes.map((code) => code['family_id'] ?? null));
  for (const family of families) {
    const id = family['id'] ?? '';
    const say = (text: string) => void wrong.push(`family ${id} ${text}`);
    for (const owner of ['grant_found', 'account_found', 'client_found']) {
      if (family[owner] === null) say(`has no ${owner.replace('_found', '')}`);
    }
    if (redeemed.get(id) !== 1) say(`comes from ${redeemed.get(id) ?? 0} codes`);
    if (issued.get(id) !== 1) say(`was recorded ${issued.get(id) ?? 0} times`);
    const rotations = Number(family['sequence']) - 1;
    if ((refreshed.get(id) ?? 0) !== rotations)
      say(`was rotated ${rotations} times, recorded ${refreshed.get(id) ?? 0}`);
    if ((family['predecessor_jti'] === null) !== (rotations === 0)) say('has a predecessor that it cannot have');
    if ((family['dead_at'] !== null) !== killed.has(id)) say('is dead without a record, or recorded as dead and lives');
  }
  const known = new Set(families.map(({ id }) => id));
  for (const id of [...issued.keys(), ...refreshed.keys()]) {
    if (!known.has(id)) wrong.push(`family ${id} is recorded and not there`);
  }
  for (const code of codes) {
    if ((code['redeemed_at'] === null) !== (code['family_id'] === null))
      wrong.push('a code is redeemed without a family');
  }
  const revoked = of('consent.revoked', 'grantId');
  for (const grant of grants) {
    const times = revoked.get(grant['id'] ?? '') ?? 0;
    if (times !== (grant['revoked_at'] === null ? 0 : 1))
      wrong.push(`grant ${grant['id']} was recorded as revoked ${times} times`);
  }
  const live = count(
    grants.filter((grant) => grant['revoked_at'] === null).map((g) => `${g['account_id']} ${g['client_id']}`),
  );
  for (const [pair, times] of live) if (times > 1) wrong.push(`${pair} has ${times} live grants`);
  return [...wrong, ...standingContradictions(accounts, events)];
}

/** The standing of each account, and what the record says last. */
function standingContradictions(accounts: readonly Row[], events: readonly Row[]): string[] {
  const wrong: string[] = [];
  const made = new Map<string, number>();
  const standing = new Map<string, { banned: boolean; suspended: boolean }>();
  for (const event of events) {
    const id = event['account_id'] ?? '';
    const now = standing.get(id) ?? { banned: false, suspended: false };
    standing.set(id, now);
    switch (event['type']) {
      case 'account.created':
        made.set(id, (made.get(id) ?? 0) + 1);
        break;
      case 'account.banned':
      case 'account.unbanned':
        now.banned = event['type'] === 'account.banned';
        break;
      case 'account.suspended':
        now.suspended = true;
        break;
    }
  }
  for (const account of accounts) {
    const id = account['id'] ?? '';
    if (made.get(id) !== 1) wrong.push(`account ${id} was recorded ${made.get(id) ?? 0} times`);
    const recorded = standing.get(id);
    if ((account['banned_at'] !== null) !== recorded?.banned) wrong.push(`the ban of ${id} and its record differ`);
    if ((account['suspended_at'] !== null) !== recorded?.suspended)
      wrong.push(`the suspension of ${id} and its record differ`);
  }
  const known = new Set(accounts.map(({ id }) => id));
  for (const id of made.keys()) if (!known.has(id)) wrong.push(`account ${id} is recorded and not there`);
  return wrong;
}

/** Live tokens that were never issued, and issued ones that are not live, while no request is in flight. */
export function orphans({ families }: Snapshot, ledger: Ledger): string[] {
  const held = new Map(
    ledger.people.flatMap((person) => {
      const live = liveOf(person);
      return live === undefined ? [] : [[live.family, String(claimsOf(live.refresh).jti)] as const];
    }),
  );
  const wrong: string[] = [];
  for (const family of families) {
    const ended = ['dead_at', 'revoked_at', 'banned_at', 'suspended_at'].some((name) => family[name] !== null);
    if (ended || family['account_generation'] !== family['account_now']) continue;
    const jti = held.get(family['id'] ?? '');
    if (jti === undefined) wrong.push(`family ${family['id']} is live, and its tokens were never issued`);
    else if (jti !== family['leaf_jti'])
      wrong.push(`family ${family['id']} has another live refresh token than was given`);
    held.delete(family['id'] ?? '');
  }
  for (const family of held.keys()) wrong.push(`family ${family} was given and does not live`);
  return wrong;
}
