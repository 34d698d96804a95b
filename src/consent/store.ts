import type { Kysely } from 'kysely';
import { storedScopes } from '../claims/scopes.ts';
import { destinationOf } from '../clients/rules/redirect-uri.ts';
import { storedResources } from '../clients/rules/resources.ts';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import type { Work } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import { all, first, type RowOf, run, statement } from '../platform/database/statement.ts';

/** A person's consent for one app, from its first "allow" to its revocation. */
export interface ConsentGrant {
  readonly id: string;
  readonly scopes: ReadonlySet<string>;
  readonly declined: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
  /** The client's consent epoch when the person last decided. */
  readonly consentEpoch: string;
}

interface Pair {
  readonly accountId: string;
  readonly clientId: string;
}

const GRANT = ['id', 'scopes', 'declined_scopes', 'resources', 'consent_epoch'] as const;

const selectGrant = (db: Kysely<Tables>, p: Pair) =>
  db
    .selectFrom('consent_grant')
    .select(GRANT)
    .where('account_id', '=', p.accountId)
    .where('client_id', '=', p.clientId)
    .where('revoked_at', 'is', null);

const liveGrant = statement((db, p: Pair) => selectGrant(db, p));
const liveGrantLocked = statement((db, p: Pair) => selectGrant(db, p).forNoKeyUpdate());

interface Decision {
  readonly scopes: string;
  readonly declined: string;
  /** See `formatResources`. */
  readonly resources: string | null;
  readonly epoch: string;
  readonly now: number;
}

const insertGrant = statement((db, p: Decision & { id: string; accountId: string; clientId: string }) =>
  db
    .insertInto('consent_grant')
    .values({
      id: p.id,
      account_id: p.accountId,
      client_id: p.clientId,
      scopes: p.scopes,
      declined_scopes: p.declined,
      resources: p.resources,
      consent_epoch: p.epoch,
      created_at: p.now,
      updated_at: p.now,
      revoked_at: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning(GRANT),
);

const updateGrant = statement((db, p: Decision & { id: string }) =>
  db
    .updateTable('consent_grant')
    .set({
      scopes: p.scopes,
      declined_scopes: p.declined,
      resources: p.resources,
      consent_epoch: p.epoch,
      updated_at: p.now,
    })
    .where('id', '=', p.id)
    .returning(GRANT),
);

const revoke = statement((db, p: { accountId: string; clientId: string; now: number }) =>
  db
    .updateTable('consent_grant')
    .set({ revoked_at: p.now })
    .where('account_id', '=', p.accountId)
    .where('client_id', '=', p.clientId)
    .where('revoked_at', 'is', null)
    .returning('id'),
);

const lastRevoked = statement((db, p: { accountId: string; clientId: string }) =>
  db
    .selectFrom('consent_grant as g')
    .innerJoin('client as c', 'c.id', 'g.client_id')
    .select(['g.id', 'g.revoked_at', 'c.name'])
    .where('g.account_id', '=', p.accountId)
    .where('g.client_id', '=', p.clientId)
    .where('g.revoked_at', 'is not', null)
    .orderBy('g.revoked_at', 'desc')
    .orderBy('g.id', 'desc')
    .limit(1),
);

const noteRevocation = statement((db, p: Pair & { name: string; now: number }) =>
  db
    .insertInto('consent_revocation')
    .values({ account_id: p.accountId, client_id: p.clientId, name: p.name, revoked_at: p.now })
    .onConflict((conflict) =>
      conflict.columns(['account_id', 'client_id']).doUpdateSet((eb) => ({
        name: eb.ref('excluded.name'),
        revoked_at: eb.ref('excluded.revoked_at'),
      })),
    ),
);
const lastRevocation = statement((db, p: Pair) =>
  db
    .selectFrom('consent_revocation')
    .select('name')
    .where('account_id', '=', p.accountId)
    .where('client_id', '=', p.clientId),
);

const SHOWN = [
  'g.client_id',
  'c.name',
  'c.owner',
  'c.picture',
  'c.homepage_url',
  'c.redirect_uris',
  'g.scopes',
  'g.declined_scopes',
  'g.resources',
  'g.created_at',
] as const;
const connections = statement((db, p: { accountId: string }) =>
  db
    .selectFrom('consent_grant as g')
    .innerJoin('client as c', 'c.id', 'g.client_id')
    .leftJoin('token_family as f', 'f.grant_id', 'g.id')
    .select(SHOWN)
    .select((eb) => eb.fn.max(eb.fn.coalesce('f.rotated_at', 'f.created_at')).as('last_used_at'))
    .where('g.account_id', '=', p.accountId)
    .where('g.revoked_at', 'is', null)
    .groupBy(['g.id', ...SHOWN])
    .orderBy('g.id'),
);

function toGrant(row: RowOf<typeof liveGrant> | undefined): ConsentGrant | undefined {
  return (
    row && {
      id: row.id,
      scopes: storedScopes(row.scopes),
      declined: storedScopes(row.declined_scopes),
      resources: new Set(storedResources(row.resources)),
      consentEpoch: row.consent_epoch,
    }
  );
}

/** The live grant of a person for an app. */
export function* findGrant(accountId: string, clientId: string): Work<ConsentGrant | undefined> {
  return toGrant(yield* first(liveGrant, { accountId, clientId }));
}

/**
 * Reads the live grant that the same unit of work is about to change, or whose life it rests on. Families refer to it: a
 * redemption that holds its code may go on and make one, for this unit may be about to wait for that code.
 */
export function* lockGrant(accountId: string, clientId: string): Work<ConsentGrant | undefined> {
  return toGrant(yield* first(liveGrantLocked, { accountId, clientId }));
}

/** Adds a grant; answers undefined where a parallel consent was faster. */
export function* addGrant(
  grant: Omit<Decision, 'resources'> & Partial<Decision> & { id: string; accountId: string; clientId: string },
): Work<ConsentGrant | undefined> {
  return toGrant(yield* first(insertGrant, { resources: null, ...grant }));
}

/** Changes a grant whose lock the caller holds. */
export function* changeGrant(grant: Decision & { id: string }): Work<ConsentGrant> {
  const changed = toGrant(yield* first(updateGrant, grant));
  if (changed === undefined) throw new Error('a locked grant is gone');
  return changed;
}

/** Ends the live grant for ever; answers its id, or undefined where there was none. */
export function* revokeGrant(accountId: string, clientId: string, now: number): Work<string | undefined> {
  const grantId = (yield* first(revoke, { accountId, clientId, now }))?.id;
  if (grantId !== undefined) yield* run(noteRevocation, { accountId, clientId, name: randomIdentifier(), now });
  return grantId;
}

/**
 * A name for the last revocation of an app's access by a person; empty where there was none, or none within a day. It is random
 * rather than a time, since the clocks of several nodes do not put two revocations in order.
 */
export function* lastRevocationOf(accountId: string, clientId: string): Work<string> {
  return (yield* first(lastRevocation, { accountId, clientId }))?.name ?? '';
}

/** The consent of a person for an app that was taken back last. */
export function* findRevokedGrant(
  accountId: string,
  clientId: string,
): Work<{ readonly id: string; readonly app: string; readonly revokedAt: number } | undefined> {
  const row = yield* first(lastRevoked, { accountId, clientId });
  return row && row.revoked_at !== null ? { id: row.id, app: row.name, revokedAt: row.revoked_at } : undefined;
}

/** An app that has access to a person's data. */
export interface Connection {
  readonly clientId: string;
  readonly name: string;
  readonly owner: string | null;
  readonly picture: string | null;
  readonly homepageUrl: string | null;
  readonly host: string;
  readonly scopes: readonly string[];
  /** What the person switched off. */
  readonly declined: readonly string[];
  /** The resource servers where it may act for the person. */
  readonly resources: readonly string[];
  readonly connectedAt: number;
  /** When it last got tokens; null where it never fetched any. */
  readonly lastUsedAt: number | null;
}

export function* listConnections(accountId: string): Work<Connection[]> {
  const rows = yield* all(connections, { accountId });
  return rows.map((row) => ({
    clientId: row.client_id,
    name: row.name,
    owner: row.owner,
    picture: row.picture,
    homepageUrl: row.homepage_url,
    host: hostOf(row.redirect_uris),
    scopes: [...storedScopes(row.scopes)],
    declined: [...storedScopes(row.declined_scopes)],
    resources: storedResources(row.resources) ?? [],
    connectedAt: row.created_at,
    lastUsedAt: row.last_used_at,
  }));
}

function hostOf(redirectUris: string): string {
  const [uri] = JSON.parse(redirectUris) as string[];
  return uri === undefined ? '' : destinationOf(uri);
}
