import type { InferResult, Kysely } from 'kysely';
import { hasAccess } from '../access/store.ts';
import type { Profile } from '../accounts/fields.ts';
import { JOINED_PROFILE_COLUMNS, toProfile } from '../accounts/store.ts';
import { type EndpointSet, endpointSetCodec } from '../claims/endpoint-set.ts';
import {
  decodeResources,
  encodeResources,
  formatClaims,
  type RequestedClaims,
  remainingClaims,
  remainingScopes,
  storedClaims,
  storedScopes,
} from '../claims/permissions.ts';
import type { AsymmetricAlg } from '../keys/algorithms.ts';
import { NODE_CLOCK_TOLERANCE } from '../platform/clock.ts';
import { negated } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import { forUpdate } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import { command, encoded, joint, one } from '../platform/database/statement.ts';
import { type CredentialState, clientStatusOf, type InheritedGenerations } from '../verdict/rules.ts';

/** The state behind an access token: all that the verdict and UserInfo need, read at one moment. */
export interface TokenHolder {
  readonly endpointSet: EndpointSet;
  readonly state: CredentialState;
  readonly inherited: InheritedGenerations;
  readonly keyVersion: string;
  /** The scopes that the user withdrew after the family was created. A token no longer grants them, even if it lists them. */
  readonly withdrawn: ReadonlySet<string>;
  readonly profile: Profile;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** How the client wants UserInfo signed: null is JSON. */
  readonly userinfoAlg: AsymmetricAlg | null;
}

/** The same with the token family. */
export interface TokenFamily extends TokenHolder {
  readonly family: {
    /** Without the withdrawn ones. */
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
    readonly currentToken: CurrentRefreshToken;
    readonly predecessorJti: string | null;
    readonly rotatedAt: number | null;
    readonly endsAt: number;
    /** What revoked the family first; null while nothing has. */
    readonly deadReason: string | null;
  };
}

/** A family that the same unit of work is about to change. */
export interface LockedTokenFamily extends TokenFamily {
  /** The single claims that were granted beside the scopes, without the withdrawn ones. */
  readonly claims: RequestedClaims | null;
}

/** The refresh token that a family accepts now: what is needed to sign the very same token again. */
export interface CurrentRefreshToken {
  readonly jti: string;
  readonly kid: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

export interface NewFamily {
  readonly endpointSet: EndpointSet;
  readonly id: string;
  readonly grantId: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly accountGeneration: string;
  readonly clientGeneration: string;
  readonly scopes: string;
  /** The granted resources; null where the authorization named none. */
  readonly resources: readonly string[] | null;
  readonly sid: string;
  readonly authTime: number;
  readonly amr: readonly string[];
  readonly acr: string | null;
  /** The single claims that were granted beside the scopes. */
  readonly claims: RequestedClaims | null;
  readonly currentToken: CurrentRefreshToken;
  /** The assignment under which the person uses the app; null where it is open to everyone. */
  readonly assignmentId: string | null;
  /** The membership by which that reaches the person. */
  readonly memberId: string | null;
  readonly createdAt: number;
  readonly endsAt: number;
  /** Whether it is revoked when the person ends the browser session. */
  readonly endsWithSession: boolean;
}

interface FamilyKey {
  readonly familyId: string;
  readonly accountId: string;
  readonly clientId: string;
}

// A foreign key guarantees that the grant exists, so only its revocation is read, from the small index of revoked grants that
// `negated` selects: joining the grant by its id would read a page for each person. It is a subquery, because PostgreSQL
// would join all revoked grants where its statistics know of none.
// No column is named as an id: ids are read as 64-bit integers, which costs time on this path.
const selectHolder = (db: Kysely<Tables>, p: FamilyKey) =>
  db
    .selectFrom('token_family as f')
    .innerJoin('account as a', 'a.id', 'f.account_id')
    .innerJoin('client as c', 'c.id', 'f.client_id')
    .innerJoin('key_set as k', (join) => join.on('k.id', '=', 1))
    .where('f.id', '=', p.familyId)
    .where('f.account_id', '=', p.accountId)
    .where('f.client_id', '=', p.clientId)
    .select(JOINED_PROFILE_COLUMNS)
    .select([
      'a.banned_at',
      'a.banned_until',
      'a.suspended_at',
      'a.generation as account_now',
      'c.status as client_status',
      'c.userinfo_signed_response_alg',
      'c.generation as client_now',
      'f.face',
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
    )
    .select(hasAccess('f').as('has_access'));

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
    'f.dead_reason',
  ]);

const selectLocked = (db: Kysely<Tables>, p: FamilyKey) =>
  selectFamily(db, p)
    .select('f.claims')
    .$call((query) => forUpdate(query, 'f'));

/** The columns that the verdict on a token goes by. */
interface StateRow {
  readonly banned_at: number | null;
  readonly banned_until: number | null;
  readonly suspended_at: number | null;
  readonly account_now: string;
  readonly client_status: string;
  readonly client_now: string;
  readonly revoked_at: number | null;
  readonly ends_at: number;
  readonly dead_at: number | null;
  readonly has_access: number;
  readonly account_generation: string;
  readonly client_generation: string;
}

/** The state of a family's credentials, with the generations that they inherited. */
export const familyState = (row: StateRow) => ({
  state: {
    account: {
      bannedAt: row.banned_at,
      bannedUntil: row.banned_until,
      suspendedAt: row.suspended_at,
      generation: row.account_now,
    },
    client: { status: clientStatusOf(row.client_status), generation: row.client_now },
    grant: { revokedAt: row.revoked_at },
    family: { endsAt: row.ends_at, deadAt: row.dead_at },
    hasAccess: row.has_access === 1,
  },
  inherited: { accountGeneration: row.account_generation, clientGeneration: row.client_generation },
});

function toHolder(row: InferResult<ReturnType<typeof selectHolder>>[number]): TokenHolder {
  return {
    ...familyState(row),
    endpointSet: endpointSetCodec.decode(row.face),
    keyVersion: row.key_version,
    withdrawn: storedScopes(row.withdrawn_scopes),
    profile: toProfile(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    userinfoAlg: row.userinfo_signed_response_alg as AsymmetricAlg | null,
  };
}

function toFamily(row: InferResult<ReturnType<typeof selectFamily>>[number]): TokenFamily {
  const holder = toHolder(row);
  return {
    ...holder,
    family: {
      scopes: remainingScopes(row.scopes, holder.withdrawn),
      grantedScopes: row.scopes,
      resources: decodeResources(row.resources),
      sid: row.sid,
      authTime: row.auth_time,
      amr: JSON.parse(row.amr) as string[],
      acr: row.acr,
      sequence: row.sequence,
      currentToken: {
        jti: row.leaf_jti,
        kid: row.leaf_kid,
        issuedAt: row.leaf_issued_at,
        expiresAt: row.leaf_expires_at,
      },
      predecessorJti: row.predecessor_jti,
      rotatedAt: row.rotated_at,
      endsAt: row.ends_at,
      deadReason: row.dead_reason,
    },
  };
}

function toLocked(row: InferResult<ReturnType<typeof selectLocked>>[number]): LockedTokenFamily {
  const family = toFamily(row);
  return { ...family, claims: remainingClaims(storedClaims(row.claims), family.withdrawn) };
}

/** The state behind an access token of this family; undefined where family, account or client do not match or were deleted. */
export const readTokenHolder = one(selectHolder, toHolder);

/** A family of this account and client; undefined where they do not match or were deleted. */
export const readFamily = one(selectFamily, toFamily);

/** {@link readFamily}, for a unit of work that is about to change the family. */
export const lockFamily = one(joint({ row: ['familyId'] }, selectLocked), toLocked);

/** A new family with its lists as they are stored. */
type EncodedFamily = Omit<NewFamily, 'resources' | 'amr' | 'claims' | 'currentToken' | 'endsWithSession'> &
  CurrentRefreshToken & {
    readonly resources: string | null;
    readonly amr: string;
    readonly claims: string | null;
    readonly endsWithSession: number;
    readonly reviewAt: number;
  };

const insert = command(
  joint({ row: ['id'] }, (db, p: EncodedFamily) =>
    db.insertInto('token_family').values({
      id: p.id,
      grant_id: p.grantId,
      account_id: p.accountId,
      client_id: p.clientId,
      account_generation: p.accountGeneration,
      client_generation: p.clientGeneration,
      scopes: p.scopes,
      resources: p.resources,
      sid: p.sid,
      auth_time: p.authTime,
      amr: p.amr,
      acr: p.acr,
      sequence: 1,
      leaf_jti: p.jti,
      leaf_kid: p.kid,
      leaf_issued_at: p.issuedAt,
      leaf_expires_at: p.expiresAt,
      predecessor_jti: null,
      rotated_at: null,
      created_at: p.createdAt,
      ends_at: p.endsAt,
      dead_at: null,
      dead_reason: null,
      claims: p.claims,
      face: encoded(endpointSetCodec, p.endpointSet),
      ends_with_session: p.endsWithSession,
      review_at: p.reviewAt,
      assignment_id: p.assignmentId,
      member_id: p.memberId,
    }),
  ),
);

export const insertFamily = ({ currentToken, ...family }: NewFamily): Work<void> =>
  insert({
    ...family,
    ...currentToken,
    resources: encodeResources(family.resources),
    amr: JSON.stringify(family.amr),
    claims: formatClaims(family.claims),
    endsWithSession: family.endsWithSession ? 1 : 0,
    // A rotation leaves it as it is, so that it writes no more than it must: the review finds the later token.
    reviewAt: currentToken.expiresAt + NODE_CLOCK_TOLERANCE,
  });

/** Replaces the current refresh token by its successor. The caller holds the family's lock. */
export const rotateFamily = command(
  joint(
    { row: ['familyId'] },
    (db, p: CurrentRefreshToken & { familyId: string; predecessorJti: string; now: number }) =>
      db
        .updateTable('token_family')
        .set((eb) => ({
          sequence: eb('sequence', '+', 1),
          leaf_jti: p.jti,
          leaf_kid: p.kid,
          leaf_issued_at: p.issuedAt,
          leaf_expires_at: p.expiresAt,
          predecessor_jti: p.predecessorJti,
          rotated_at: p.now,
        }))
        .where('id', '=', p.familyId),
  ),
);

/** The client called the revocation endpoint (RFC 7009). */
export const REVOKED_BY_CLIENT = 'token revoked';

type RevocationReason =
  | typeof REVOKED_BY_CLIENT
  | 'code replayed'
  | 'refresh token reused'
  | 'resource withdrawn'
  | 'access lost';

interface Revocation {
  readonly familyId: string;
  readonly reason: RevocationReason;
  readonly now: number;
}

const revocation = (db: Kysely<Tables>, p: Revocation) =>
  db
    .updateTable('token_family')
    .set({ dead_at: p.now, dead_reason: p.reason })
    .where('id', '=', p.familyId)
    .where('dead_at', 'is', null);

/** Revokes a family: none of its tokens is accepted from now on. */
export const revokeFamily = command(revocation);

/** The same for a caller that holds the family's lock. */
export const revokeLockedFamily = command(joint({ row: ['familyId'] }, revocation));
