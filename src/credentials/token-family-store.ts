import type { Insertable, Kysely } from 'kysely';
import { hasAccess } from '../access/store.ts';
import type { Profile } from '../accounts/fields.ts';
import { JOINED_PROFILE_COLUMNS, toProfile } from '../accounts/store.ts';
import { endedScopes, endpointSetCodec } from '../claims/endpoint-set.ts';
import {
  claimsCodec,
  type RequestedClaims,
  remainingClaims,
  remainingScopes,
  storedResources,
  storedScopes,
} from '../claims/permissions.ts';
import type { AsymmetricAlg } from '../keys/algorithms.ts';
import { NODE_CLOCK_TOLERANCE } from '../platform/clock.ts';
import { negated, pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import { forShare, forUpdate } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import {
  bit,
  changes,
  columnsOf,
  command,
  decoder,
  encode,
  joint,
  json,
  one,
  plain,
  readAs,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import { FAMILY_STATE, INHERITED, REGISTERED_SCOPES, STATE_COLUMNS } from './state-fields.ts';
import type { TokenFamilyTable } from './tables.ts';

/** What is stored of a family when it begins. */
const NEW_FAMILY = {
  id: storedField('id', plain<string>()),
  endpointSet: storedField('face', endpointSetCodec),
  grantId: storedField('grant_id', plain<string>()),
  accountId: storedField('account_id', plain<string>()),
  clientId: storedField('client_id', plain<string>()),
  inherited: INHERITED,
  scopes: storedField('scopes', plain<string>()),
  /** The granted resources; null where the authorization named none. */
  resources: storedField('resources', storedResources),
  sid: storedField('sid', plain<string>()),
  authTime: storedField('auth_time', plain<number>()),
  /** How the person authenticated. */
  amr: storedField('amr', json<readonly string[]>()),
  acr: storedField('acr', plain<string | null>()),
  /** The single claims that were granted beside the scopes. */
  claims: storedField('claims', claimsCodec),
  /** The refresh token that the family accepts now: what is needed to sign the very same token again. */
  currentToken: {
    jti: storedField('leaf_jti', plain<string>()),
    kid: storedField('leaf_kid', plain<string>()),
    issuedAt: storedField('leaf_issued_at', plain<number>()),
    expiresAt: storedField('leaf_expires_at', plain<number>()),
  },
  /** The assignment under which the person uses the app; null where it is open to everyone. */
  assignmentId: storedField('assignment_id', plain<string | null>()),
  /** The membership by which that reaches the person. */
  memberId: storedField('member_id', plain<string | null>()),
  createdAt: storedField('created_at', plain<number>()),
  endsAt: storedField('ends_at', plain<number>()),
  /** Whether it is revoked when the person ends the browser session. */
  endsWithSession: storedField('ends_with_session', bit),
  /** The network from which a public client last got tokens. It runs with the person; the server of another app tells nothing of them. */
  lastNetwork: storedField('last_network', plain<string | null>()),
} as const;

export type NewFamily = Values<typeof NEW_FAMILY>;
export type CurrentRefreshToken = NewFamily['currentToken'];

/** Columns of the family that every token needs. */
const HELD = {
  endpointSet: NEW_FAMILY.endpointSet,
  inherited: INHERITED,
  family: FAMILY_STATE.family,
  withdrawn: storedField('withdrawn_scopes', readAs(storedScopes)),
} as const;

const HOLDER = {
  state: FAMILY_STATE,
  endpointSet: HELD.endpointSet,
  inherited: INHERITED,
  withdrawn: HELD.withdrawn,
  /** What the client is registered for now. */
  registered: REGISTERED_SCOPES,
  keyVersion: storedField('key_version', plain<string>()),
  createdAt: storedField('created_at', plain<number>()),
  updatedAt: storedField('updated_at', plain<number>()),
  /** How the client wants UserInfo signed: null is JSON. */
  userinfoAlg: storedField('userinfo_signed_response_alg', plain<AsymmetricAlg | null>()),
} as const;

/** The state behind an access token: all that the verdict and UserInfo need, read at one moment. */
export interface TokenHolder extends Omit<Values<typeof HOLDER>, 'registered'> {
  /**
   * The scopes that ended after the family was created: the person withdrew them, or the client is no longer registered for them. A token no
   * longer grants them, even if it lists them.
   */
  readonly withdrawn: ReadonlySet<string>;
  readonly profile: Profile;
}

/** What a family is read with beside {@link HELD}. */
const FAMILY = {
  ...pick(NEW_FAMILY, ['resources', 'sid', 'authTime', 'amr', 'acr', 'currentToken']),
  /** As they were granted at the authorization. */
  grantedScopes: NEW_FAMILY.scopes,
  sequence: storedField('sequence', plain<number>()),
  predecessorJti: storedField('predecessor_jti', plain<string | null>()),
  rotatedAt: storedField('rotated_at', plain<number | null>()),
  /** What revoked the family first; null while nothing has. */
  deadReason: storedField('dead_reason', plain<string | null>()),
} as const;

/** The same with the token family. */
export interface TokenFamily extends TokenHolder {
  readonly family: Values<typeof FAMILY> & {
    /** Without the withdrawn ones. */
    readonly scopes: string;
    readonly endsAt: number;
  };
}

/** A family that the same unit of work is about to change. */
export interface LockedTokenFamily extends TokenFamily {
  /** The single claims that were granted beside the scopes, without the withdrawn ones. */
  readonly claims: RequestedClaims | null;
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
    .select(STATE_COLUMNS)
    .select(columnsOf(HELD).map((column) => `f.${column}` as const))
    .select([
      'c.userinfo_signed_response_alg',
      'c.scopes as registered_scopes',
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
  selectHolder(db, p).select(columnsOf(FAMILY).map((column) => `f.${column}` as const));

const selectLocked = (db: Kysely<Tables>, p: FamilyKey) =>
  selectFamily(db, p)
    .select('f.claims')
    .$call((query) => forUpdate(query, 'f'));

const decodeHolder = decoder(HOLDER);
const decodeFamily = decoder({ ...HOLDER, family: FAMILY });
const decodeLocked = decoder({ ...HOLDER, family: FAMILY, claims: NEW_FAMILY.claims });

/** What is read, with the scopes that count no more. */
function withEnded<Read extends ReturnType<typeof decodeHolder>>(read: Read) {
  const { registered, ...other } = read;
  return { ...other, withdrawn: endedScopes(read.endpointSet, read.withdrawn, registered) };
}

const toHolder = (row: object): TokenHolder => ({ ...withEnded(decodeHolder(row)), profile: toProfile(row) });

/** What is known of a family only with the scopes that ended since. */
const remaining = ({
  family,
  state,
  withdrawn,
}: Omit<ReturnType<typeof decodeFamily>, 'registered'>): TokenFamily['family'] => ({
  ...family,
  scopes: remainingScopes(family.grantedScopes, withdrawn),
  endsAt: state.family.endsAt,
});

function toFamily(row: object): TokenFamily {
  const read = withEnded(decodeFamily(row));
  return { ...read, profile: toProfile(row), family: remaining(read) };
}

function toLocked(row: object): LockedTokenFamily {
  const read = withEnded(decodeLocked(row));
  return {
    ...read,
    profile: toProfile(row),
    family: remaining(read),
    claims: remainingClaims(read.claims, read.withdrawn),
  };
}

/** The state behind an access token of this family; undefined where family, account or client do not match or were deleted. */
export const readTokenHolder = one(selectHolder, toHolder);

/** A family of this account and client; undefined where they do not match or were deleted. */
export const readFamily = one(selectFamily, toFamily);

/** Holds a family until the unit of work ends, for one that acts by a token of it: it ends before or after. */
export const holdFamily = command((db, p: { familyId: string }) =>
  db.selectFrom('token_family').select('id').where('id', '=', p.familyId).$call(forShare),
);

/** {@link readFamily}, for a unit of work that is about to change the family. */
export const lockFamily = one(joint({ row: ['familyId'] }, selectLocked), toLocked);

const insert = command(
  joint({ row: ['id'] }, (db, p: Insertable<TokenFamilyTable>) =>
    db.insertInto('token_family').values({
      ...pick(p, [...columnsOf(NEW_FAMILY), 'review_at']),
      sequence: 1,
      predecessor_jti: null,
      rotated_at: null,
      dead_at: null,
      dead_reason: null,
    }),
  ),
);

export const insertFamily = (family: NewFamily): Work<void> =>
  insert({
    ...encode(NEW_FAMILY, family),
    sequence: 1,
    // A rotation leaves it as it is, so that it writes no more than it must: the review finds the later token.
    review_at: family.currentToken.expiresAt + NODE_CLOCK_TOLERANCE,
  });

/** Replaces the current refresh token by its successor. The caller holds the family's lock. */
export const rotateFamily = command(
  joint(
    { row: ['familyId'] },
    (
      db,
      p: CurrentRefreshToken & { familyId: string; predecessorJti: string; lastNetwork: string | null; now: number },
    ) =>
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
          last_network: p.lastNetwork,
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
  | 'session ended'
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

/** Revokes a family: none of its tokens is accepted from now on. Gives false where it was dead already. */
export const revokeFamily = changes((db, p: Revocation) => revocation(db, p).returning('id'));

/** The same for a caller that holds the family's lock. */
export const revokeLockedFamily = command(joint({ row: ['familyId'] }, revocation));
