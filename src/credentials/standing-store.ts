import type { Kysely } from 'kysely';
import type { Profile } from '../accounts/fields.ts';
import { PROFILE_OF_A, toProfile } from '../accounts/store.ts';
import { type RequestedClaims, remainingClaims, storedClaims } from '../claims/claims.ts';
import { remainingScopes, storedScopes } from '../claims/scopes.ts';
import { storedResources } from '../clients/rules/resources.ts';
import type { AsymmetricAlg } from '../keys/algorithms.ts';
import { negated } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import { all, first, type RowOf, statement } from '../platform/database/statement.ts';
import type { FamilyStanding, Inherited, Standing } from '../verdict/rules.ts';

/** Everything that the verdict on a token and UserInfo's answer need, as of one moment. */
export interface HolderRecord {
  readonly standing: Standing;
  readonly inherited: Inherited;
  readonly keyVersion: string;
  /** What the person has taken away since the family was made: its tokens no longer give it, whatever they say. */
  readonly withdrawn: ReadonlySet<string>;
  readonly profile: Profile;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** How the client wants UserInfo signed: null is JSON. */
  readonly userinfoAlg: AsymmetricAlg | null;
}

/** The same, with the token family itself. */
export interface FamilyRecord extends HolderRecord {
  readonly family: {
    /** Without what was withdrawn since. */
    readonly scopes: string;
    /** As they were granted at the authorization. */
    readonly grantedScopes: string;
    readonly resources: readonly string[] | null;
    readonly sid: string;
    readonly authTime: number;
    /** How the person authenticated. */
    readonly amr: readonly string[];
    readonly acr: string | null;
    readonly sequence: number;
    readonly leaf: Leaf;
    readonly predecessorJti: string | null;
    readonly rotatedAt: number | null;
    readonly endsAt: number;
  };
}

/** A family that the same unit of work is about to change. */
export interface LockedFamily extends FamilyRecord {
  /** The single claims that were granted beside the scopes, without what was withdrawn since. */
  readonly claims: RequestedClaims | null;
}

/** The live refresh token of a family: what is needed to write the very same token again. */
export interface Leaf {
  readonly jti: string;
  readonly kid: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

interface FamilyKey {
  readonly familyId: string;
  readonly accountId: string;
  readonly clientId: string;
}

// A family has a grant, by a constraint. What counts is whether it was revoked, and the minus leads to the index of those: by
// the id as it is the grant itself would be read, from a page of its own for each person. It is asked for by itself: where its
// statistics know of none, PostgreSQL would join all that were revoked.
// No column here is named as an id: the 64-bit reading that ids need is not worth its time on this path.
const selectHolder = (db: Kysely<Tables>, p: FamilyKey) =>
  db
    .selectFrom('token_family as f')
    .innerJoin('account as a', 'a.id', 'f.account_id')
    .innerJoin('client as c', 'c.id', 'f.client_id')
    .innerJoin('key_set as k', (join) => join.on('k.id', '=', 1))
    .where('f.id', '=', p.familyId)
    .where('f.account_id', '=', p.accountId)
    .where('f.client_id', '=', p.clientId)
    .select(PROFILE_OF_A)
    .select([
      'a.banned_at',
      'a.banned_until',
      'a.suspended_at',
      'a.generation as account_now',
      'c.status as client_status',
      'c.userinfo_signed_response_alg',
      'c.generation as client_now',
      'f.account_generation',
      'f.client_generation',
      'f.ends_at',
      'f.dead_at',
      'f.withdrawn_scopes',
      'k.version as key_version',
      'a.created_at',
      'a.updated_at',
    ])
    .select((eb) =>
      eb
        .selectFrom('consent_grant as g')
        .select('g.revoked_at')
        .where(negated('g.id'), '=', negated('f.grant_id'))
        .where('g.revoked_at', 'is not', null)
        .as('revoked_at'),
    );

const selectFamily = (db: Kysely<Tables>, p: FamilyKey) =>
  selectHolder(db, p).select([
    'f.scopes',
    'f.resources',
    'f.sid',
    'f.auth_time',
    'f.amr',
    'f.acr',
    'f.sequence',
    'f.leaf_jti',
    'f.leaf_kid',
    'f.leaf_issued_at',
    'f.leaf_expires_at',
    'f.predecessor_jti',
    'f.rotated_at',
  ]);

const holderByFamily = statement((db, p: FamilyKey) => selectHolder(db, p));
const byFamily = statement((db, p: FamilyKey) => selectFamily(db, p));
const byFamilyLocked = statement((db, p: FamilyKey) => selectFamily(db, p).select('f.claims').forUpdate('f'));

/** Reads who holds a token of a family that is this account's and this client's; undefined where none of that is on record. */
export function* readHolder(key: FamilyKey): Work<HolderRecord | undefined> {
  const row = yield* first(holderByFamily, key);
  return row && toHolder(row);
}

/** Reads a family that is this account's and this client's; undefined where none of that is on record. */
export function* readFamily(key: FamilyKey): Work<FamilyRecord | undefined> {
  const row = yield* first(byFamily, key);
  return row && toRecord(row);
}

/** Reads a family that the same unit of work is about to change. */
export function* lockFamily(key: FamilyKey): Work<LockedFamily | undefined> {
  const row = yield* first(byFamilyLocked, key);
  if (row === undefined) return undefined;
  const record = toRecord(row);
  return { ...record, claims: remainingClaims(storedClaims(row.claims), record.withdrawn) };
}

const standingOf = (row: RowOf<typeof ofGrant> | RowOf<typeof holderByFamily>) => ({
  standing: {
    account: {
      bannedAt: row.banned_at,
      bannedUntil: row.banned_until,
      suspendedAt: row.suspended_at,
      generation: row.account_now,
    },
    client: { status: row.client_status, generation: row.client_now },
    grant: { revokedAt: row.revoked_at },
    family: { endsAt: row.ends_at, deadAt: row.dead_at },
  },
  inherited: { accountGeneration: row.account_generation, clientGeneration: row.client_generation },
});

function toHolder(row: RowOf<typeof holderByFamily>): HolderRecord {
  return {
    ...standingOf(row),
    keyVersion: row.key_version,
    withdrawn: storedScopes(row.withdrawn_scopes),
    profile: toProfile(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    userinfoAlg: row.userinfo_signed_response_alg as AsymmetricAlg | null,
  };
}

function toRecord(row: RowOf<typeof byFamily>): FamilyRecord {
  const holder = toHolder(row);
  return {
    ...holder,
    family: {
      scopes: remainingScopes(row.scopes, holder.withdrawn),
      grantedScopes: row.scopes,
      resources: storedResources(row.resources),
      sid: row.sid,
      authTime: row.auth_time,
      amr: JSON.parse(row.amr) as string[],
      acr: row.acr,
      sequence: row.sequence,
      leaf: {
        jti: row.leaf_jti,
        kid: row.leaf_kid,
        issuedAt: row.leaf_issued_at,
        expiresAt: row.leaf_expires_at,
      },
      predecessorJti: row.predecessor_jti,
      rotatedAt: row.rotated_at,
      endsAt: row.ends_at,
    },
  };
}

const selectStandings = (db: Kysely<Tables>) =>
  db
    .selectFrom('token_family as f')
    .innerJoin('account as a', 'a.id', 'f.account_id')
    .innerJoin('client as c', 'c.id', 'f.client_id')
    .innerJoin('consent_grant as g', 'g.id', 'f.grant_id')
    .select([
      'c.name',
      'a.banned_at',
      'a.banned_until',
      'a.suspended_at',
      'a.generation as account_now',
      'c.status as client_status',
      'c.generation as client_now',
      'g.revoked_at',
      'f.account_generation',
      'f.client_generation',
      'f.ends_at',
      'f.dead_at',
    ]);
const ofGrant = statement((db, p: { grantId: string }) => selectStandings(db).where('f.grant_id', '=', p.grantId));
const ofSession = statement((db, p: { accountId: string; sid: string }) =>
  selectStandings(db).where('g.account_id', '=', p.accountId).where('f.sid', '=', p.sid),
);
const ofOthers = statement((db, p: { accountId: string; sid: string }) =>
  selectStandings(db).where('g.account_id', '=', p.accountId).where('f.sid', '<>', p.sid),
);

/** Which families are meant: those of a consent, of a session, or of every session of a person but one. */
export type Families =
  | { readonly grantId: string }
  | { readonly accountId: string; readonly sid: string }
  | { readonly accountId: string; readonly except: string };

/** Reads families anew, with all that the verdict on them needs. */
export function* readStandings(which: Families): Work<FamilyStanding[]> {
  const rows =
    'grantId' in which
      ? yield* all(ofGrant, which)
      : 'sid' in which
        ? yield* all(ofSession, which)
        : yield* all(ofOthers, { accountId: which.accountId, sid: which.except });
  return rows.map((row) => ({ app: row.name, ...standingOf(row) }));
}
