import type { Kysely } from 'kysely';
import { type EndpointSet, endpointSetCodec } from '../claims/endpoint-set.ts';
import { decodeResources, resourceSet, scopeSet, storedScopes } from '../claims/permissions.ts';
import { destinationOf } from '../clients/rules/redirect-uri.ts';
import type { RegisteredBy } from '../clients/store.ts';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import type { Work } from '../platform/database/database.ts';
import { forNoKeyUpdate } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import {
  bit,
  columnsOf,
  command,
  decoder,
  encoded,
  joint,
  many,
  one,
  plain,
  readAs,
  storedField,
  type Values,
} from '../platform/database/statement.ts';

const GRANT = {
  id: storedField('id', plain<string>()),
  endpointSet: storedField('face', endpointSetCodec),
  scopes: storedField('scopes', scopeSet),
  declined: storedField('declined_scopes', scopeSet),
  resources: storedField('resources', resourceSet),
  /** The client's consent epoch when the person last decided. */
  consentEpoch: storedField('consent_epoch', plain<string>()),
  /** Whether the page is shown whatever was decided before. */
  askAgain: storedField('ask_again', bit),
  /** Who decided last. */
  decidedBy: storedField('decided_by', plain<DecidedBy>()),
} as const;

/** Who decides on a grant: the person, or an operator for the people who use an app. */
export type DecidedBy = 'person' | 'operator';

/** A person's consent for one client, from the first decision to its revocation. */
export type ConsentGrant = Values<typeof GRANT>;

const COLUMNS = columnsOf(GRANT);
const toGrant: (row: object) => ConsentGrant = decoder(GRANT);

/** The person and the client of a grant. */
interface GrantKey {
  readonly accountId: string;
  readonly clientId: string;
}

/** Each set of endpoints has a grant. */
interface EndpointGrantKey extends GrantKey {
  readonly endpointSet: EndpointSet;
}

const selectGrants = (db: Kysely<Tables>, p: GrantKey) =>
  db
    .selectFrom('consent_grant')
    .select(COLUMNS)
    .where('account_id', '=', p.accountId)
    .where('client_id', '=', p.clientId)
    .where('revoked_at', 'is', null);

const selectGrant = (db: Kysely<Tables>, p: EndpointGrantKey) =>
  selectGrants(db, p).where('face', '=', encoded(endpointSetCodec, p.endpointSet));

/** The live grant of a person for a client at a set of endpoints. */
export const findGrant = one(selectGrant, toGrant);

/** The live grants of a person for a client, one for each set of endpoints. */
export const findGrants = many((db, p: GrantKey) => selectGrants(db, p), toGrant);

/**
 * {@link findGrants}, with locks: for a unit of work that changes a grant or relies on it. The locks allow inserts of rows that
 * refer to a grant: a redemption that holds its code can add a family, while this unit of work may wait for that code.
 */
export const lockGrants = many((db, p: GrantKey) => selectGrants(db, p).orderBy('face').$call(forNoKeyUpdate), toGrant);

/** {@link findGrant}, with a lock: for a unit of work that relies on the grant. */
export const lockGrant = one(
  joint({ row: ['accountId', 'clientId', 'endpointSet'] }, (db, p: EndpointGrantKey) =>
    selectGrant(db, p).$call(forNoKeyUpdate),
  ),
  toGrant,
);

/** What a grant holds, as it is stored. */
interface GrantTerms {
  readonly scopes: string;
  readonly declined: string;
  /** See `encodeResources`. */
  readonly resources: string | null;
  readonly epoch: string;
  readonly decidedBy: DecidedBy;
  readonly now: number;
}

/** Adds a grant; gives undefined where there is a live one by now. */
export const addGrant = one(
  (db, p: GrantTerms & EndpointGrantKey & { readonly id: string }) =>
    db
      .insertInto('consent_grant')
      .values({
        id: p.id,
        account_id: p.accountId,
        client_id: p.clientId,
        face: encoded(endpointSetCodec, p.endpointSet),
        scopes: p.scopes,
        declined_scopes: p.declined,
        resources: p.resources,
        consent_epoch: p.epoch,
        created_at: p.now,
        updated_at: p.now,
        revoked_at: null,
        decided_by: p.decidedBy,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning(COLUMNS),
  toGrant,
);

const updateGrant = one(
  (db, p: GrantTerms & { readonly id: string; readonly askAgain: number }) =>
    db
      .updateTable('consent_grant')
      .set({
        scopes: p.scopes,
        declined_scopes: p.declined,
        resources: p.resources,
        consent_epoch: p.epoch,
        ask_again: p.askAgain,
        decided_by: p.decidedBy,
        updated_at: p.now,
      })
      .where('id', '=', p.id)
      .returning(COLUMNS),
  toGrant,
);

/** Changes a grant that the caller has locked. */
export function* changeGrant(
  grant: GrantTerms & { readonly id: string; readonly askAgain: boolean },
): Work<ConsentGrant> {
  const changed = yield* updateGrant({ ...grant, askAgain: grant.askAgain ? 1 : 0 });
  if (changed === undefined) throw new Error('a locked grant is gone');
  return changed;
}

/** The clients of the live grants on which a person decided at an instant or later. */
export const listClientsDecidedSince = many(
  (db, p: { accountId: string; since: number }) =>
    db
      .selectFrom('consent_grant')
      .select('client_id')
      .distinct()
      .where('account_id', '=', p.accountId)
      .where('revoked_at', 'is', null)
      .where('updated_at', '>=', p.since),
  (row) => row.client_id,
);

const setRevoked = many(
  (db, p: GrantKey & { readonly now: number }) =>
    db
      .updateTable('consent_grant')
      .set({ revoked_at: p.now })
      .where('account_id', '=', p.accountId)
      .where('client_id', '=', p.clientId)
      .where('revoked_at', 'is', null)
      .returning('id'),
  (row) => row.id,
);

const saveRevocation = command((db, p: GrantKey & { readonly name: string; readonly now: number }) =>
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

/** Remembers that a person wants no access of a client without being asked, and makes the open consent forms outdated. */
export const rememberRefusal = (key: GrantKey & { readonly now: number }): Work<void> =>
  saveRevocation({ ...key, name: randomIdentifier() });

/** Revokes the live grants of both sets of endpoints for good, and makes the open consent forms outdated; gives the ids of the grants. */
export function* revokeGrants(key: GrantKey & { readonly now: number }): Work<readonly string[]> {
  const grantIds = yield* setRevoked(key);
  yield* saveRevocation({ ...key, name: randomIdentifier() });
  return grantIds;
}

/**
 * The last revocation of a client's access by a person. It has a random name rather than a time, since the clocks of
 * several nodes do not put two revocations in order.
 */
export const findLastRevocation = one((db, p: GrantKey) =>
  db
    .selectFrom('consent_revocation')
    .select('name')
    .where('account_id', '=', p.accountId)
    .where('client_id', '=', p.clientId),
);

/** The grants of a person for a client that were revoked last, together. */
export const findRevokedGrants = many(
  (db, p: GrantKey) =>
    db
      .selectFrom('consent_grant as g')
      .innerJoin('client as c', 'c.id', 'g.client_id')
      .select(['g.id', 'g.revoked_at', 'c.name'])
      .where('g.account_id', '=', p.accountId)
      .where('g.client_id', '=', p.clientId)
      .where('g.revoked_at', '=', (eb) =>
        eb
          .selectFrom('consent_grant')
          .select((last) => last.fn.max('revoked_at').as('revoked_at'))
          .where('account_id', '=', p.accountId)
          .where('client_id', '=', p.clientId),
      ),
  // The condition above leaves no row with a null revoked_at.
  (row) => ({ id: row.id, app: row.name, revokedAt: row.revoked_at ?? 0 }),
);

/** Remembers when a grant was last used, for when its token families are removed. */
export const recordLastUse = command((db, p: { grantId: string; at: number }) =>
  db
    .updateTable('consent_grant')
    .set({ last_used_at: p.at })
    .where('id', '=', p.grantId)
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', p.at)])),
);

const CONNECTED = {
  clientId: storedField('client_id', plain<string>()),
  endpointSet: storedField('face', endpointSetCodec),
  name: storedField('name', plain<string>()),
  owner: storedField('owner', plain<string | null>()),
  picture: storedField('picture', plain<string | null>()),
  homepageUrl: storedField('homepage_url', plain<string | null>()),
  host: storedField('redirect_uris', readAs(hostOf)),
  scopes: storedField(
    'scopes',
    readAs((stored: string): readonly string[] => [...storedScopes(stored)]),
  ),
  /** What the person switched off. */
  declined: storedField(
    'declined_scopes',
    readAs((stored: string): readonly string[] => [...storedScopes(stored)]),
  ),
  /** The resource servers where it may act for the person. */
  resources: storedField(
    'resources',
    readAs((stored: string | null): readonly string[] => decodeResources(stored) ?? []),
  ),
  decidedBy: storedField('decided_by', plain<DecidedBy>()),
  connectedAt: storedField('created_at', plain<number>()),
  /** Who registered the client, if not an operator, and when an operator accepted it. */
  registeredBy: storedField('registered_by', plain<RegisteredBy | null>()),
  acceptedAt: storedField('accepted_at', plain<number | null>()),
  /** Who may use the client. */
  access: storedField('access', plain<'everyone' | 'assigned'>()),
};
const connectedIn = decoder(CONNECTED);

/** A grant of a person for a client, with what is known of the client. */
export interface ConnectedGrant extends Values<typeof CONNECTED> {
  /** When it last got tokens; null where it never did. */
  readonly lastUsedAt: number | null;
  /** From which network, where it is a public client; null where that is not known. */
  readonly lastNetwork: string | null;
}

const CONNECTION = [
  'g.client_id',
  'g.face',
  'c.name',
  'c.owner',
  'c.picture',
  'c.homepage_url',
  'c.redirect_uris',
  'g.scopes',
  'g.declined_scopes',
  'g.resources',
  'g.created_at',
  'g.decided_by',
  'c.registered_by',
  'c.accepted_at',
  'c.access',
] as const;

export const listConnectedGrants = many(
  (db, p: { accountId: string }) =>
    db
      .selectFrom('consent_grant as g')
      .innerJoin('client as c', 'c.id', 'g.client_id')
      .leftJoin('token_family as f', 'f.grant_id', 'g.id')
      .select(CONNECTION)
      .select('g.last_used_at as used_before')
      .select((eb) => eb.fn.max(eb.fn.coalesce('f.rotated_at', 'f.created_at')).as('last_used_at'))
      .select((eb) =>
        eb
          .selectFrom('token_family as l')
          .select('l.last_network')
          .whereRef('l.grant_id', '=', 'g.id')
          .orderBy((of) => of.fn.coalesce('l.rotated_at', 'l.created_at'), 'desc')
          .limit(1)
          .as('last_network'),
      )
      .where('g.account_id', '=', p.accountId)
      .where('g.revoked_at', 'is', null)
      .groupBy(['g.id', 'g.last_used_at', ...CONNECTION])
      .orderBy('g.id'),
  (row): ConnectedGrant => ({
    ...connectedIn(row),
    lastUsedAt: latestOf(row.last_used_at, row.used_before),
    lastNetwork: row.last_network,
  }),
);

/** Of the token families that are there, and of those that were removed. */
const latestOf = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.max(one, other);

function hostOf(redirectUris: string): string {
  const [uri] = JSON.parse(redirectUris) as string[];
  return uri === undefined ? '' : destinationOf(uri);
}
