import type { InferResult, Kysely } from 'kysely';
import { hasAccess } from '../access/store.ts';
import type { Profile } from '../accounts/fields.ts';
import { JOINED_PROFILE_COLUMNS, toProfile } from '../accounts/store.ts';
import { type EndpointSet, endpointSetCodec } from '../claims/endpoint-set.ts';
import {
  decodeResources,
  type RequestedClaims,
  remainingClaims,
  remainingScopes,
  storedClaims,
  storedScopes,
} from '../claims/permissions.ts';
import { MINUTE } from '../platform/clock.ts';
import { forUpdate } from '../platform/database/row-locks.ts';
import type { Tables } from '../platform/database/schema.ts';
import { changes, command, encoded, joint, one } from '../platform/database/statement.ts';
import { type CredentialState, clientStatusOf, type InheritedGenerations } from '../verdict/rules.ts';

/** The lifetime of a code, in milliseconds. */
export const CODE_LIFETIME = MINUTE;

/** A stored authorization code, with all that the verdict needs, read at one moment. */
export interface CodeRecord {
  readonly endpointSet: EndpointSet;
  readonly clientId: string;
  readonly accountId: string;
  readonly grantId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string | null;
  readonly issuedAt: number;
  readonly expiresAt: number;
  readonly redeemed: boolean;
  readonly familyId: string | null;
  /** The granted scopes, without those that were withdrawn since. */
  readonly scopes: string;
  /** Whether those are fewer than were requested. */
  readonly narrowed: boolean;
  readonly nonce: string | null;
  /** The single claims that were granted beside the scopes, without those that were withdrawn since. */
  readonly claims: RequestedClaims | null;
  /** The granted resources; null where the request named none. */
  readonly resources: readonly string[] | null;
  readonly sid: string;
  readonly authTime: number;
  /** How the person authenticated. */
  readonly amr: readonly string[];
  readonly acr: string | null;
  /** Whether its tokens are revoked when the person ends the browser session. */
  readonly endsWithSession: boolean;
  /** The assignment under which the person uses the app; null where it is open to everyone. */
  readonly assignmentId: string | null;
  /** The membership by which that reaches the person. */
  readonly memberId: string | null;
  readonly inherited: InheritedGenerations;
  readonly state: CredentialState;
  readonly keyVersion: string;
  readonly profile: Profile;
  readonly updatedAt: number;
}

export interface NewCode {
  readonly hash: string;
  readonly endpointSet: EndpointSet;
  readonly grantId: string;
  readonly accountId: string;
  readonly clientId: string;
  readonly accountGeneration: string;
  readonly clientGeneration: string;
  readonly redirectUri: string;
  readonly scopes: string;
  readonly narrowed: number;
  /** A JSON text. */
  readonly nonce: string | null;
  readonly codeChallenge: string | null;
  /** See `formatClaims`. */
  readonly claims: string | null;
  /** See `encodeResources`. */
  readonly resources: string | null;
  readonly sid: string;
  readonly authTime: number;
  /** A JSON text. */
  readonly amr: string;
  readonly acr: string | null;
  readonly expiresAt: number;
  /** Whether it ends, and its tokens with it, when the person ends the browser session: 0 or 1. */
  readonly endsWithSession: number;
  readonly assignmentId: string | null;
  readonly memberId: string | null;
}

const selectLocked = (db: Kysely<Tables>, p: { hash: string }) =>
  db
    .selectFrom('authorization_code as d')
    .innerJoin('account as a', 'a.id', 'd.account_id')
    .innerJoin('client as c', 'c.id', 'd.client_id')
    .innerJoin('consent_grant as g', 'g.id', 'd.grant_id')
    .innerJoin('key_set as k', (join) => join.on('k.id', '=', 1))
    .where('d.hash', '=', p.hash)
    .select([
      'd.face',
      'd.client_id',
      'd.account_id',
      'd.grant_id',
      'd.family_id',
      'd.redirect_uri',
      'd.code_challenge',
      'd.expires_at',
      'd.redeemed_at',
      'd.scopes',
      'd.narrowed',
      'd.nonce',
      'd.claims',
      'd.withdrawn_scopes',
      'd.resources',
      'd.sid',
      'd.auth_time',
      'd.amr',
      'd.acr',
      'd.ends_with_session',
      'd.account_generation',
      'd.client_generation',
      'a.banned_at',
      'a.banned_until',
      'a.suspended_at',
      'a.generation as account_now',
      'c.status as client_status',
      'c.generation as client_now',
      'a.updated_at',
      'g.revoked_at',
      'k.version as key_version',
    ])
    .select(JOINED_PROFILE_COLUMNS)
    .select(['d.assignment_id', 'd.member_id', hasAccess('d').as('has_access')])
    .$call((query) => forUpdate(query, 'd'));

function toCode(row: InferResult<ReturnType<typeof selectLocked>>[number]): CodeRecord {
  const withdrawn = storedScopes(row.withdrawn_scopes);
  const scopes = remainingScopes(row.scopes, withdrawn);
  return {
    endpointSet: endpointSetCodec.decode(row.face),
    clientId: row.client_id,
    accountId: row.account_id,
    grantId: row.grant_id,
    redirectUri: row.redirect_uri,
    codeChallenge: row.code_challenge,
    issuedAt: row.expires_at - CODE_LIFETIME,
    expiresAt: row.expires_at,
    redeemed: row.redeemed_at !== null,
    familyId: row.family_id,
    scopes,
    narrowed: row.narrowed === 1 || scopes !== row.scopes,
    nonce: row.nonce === null ? null : (JSON.parse(row.nonce) as string),
    claims: remainingClaims(storedClaims(row.claims), withdrawn),
    resources: decodeResources(row.resources),
    sid: row.sid,
    authTime: row.auth_time,
    amr: JSON.parse(row.amr) as string[],
    acr: row.acr,
    endsWithSession: row.ends_with_session === 1,
    assignmentId: row.assignment_id,
    memberId: row.member_id,
    inherited: { accountGeneration: row.account_generation, clientGeneration: row.client_generation },
    state: {
      account: {
        bannedAt: row.banned_at,
        bannedUntil: row.banned_until,
        suspendedAt: row.suspended_at,
        generation: row.account_now,
      },
      client: { status: clientStatusOf(row.client_status), generation: row.client_now },
      grant: { revokedAt: row.revoked_at },
      hasAccess: row.has_access === 1,
    },
    keyVersion: row.key_version,
    profile: toProfile(row),
    updatedAt: row.updated_at,
  };
}

/** Reads a code that the same unit of work is about to redeem. */
export const lockCode = one(joint({ row: ['hash'] }, selectLocked), toCode);

export const insertCode = command(
  joint({ row: ['hash'] }, (db, p: NewCode) =>
    db.insertInto('authorization_code').values({
      hash: p.hash,
      face: encoded(endpointSetCodec, p.endpointSet),
      grant_id: p.grantId,
      account_id: p.accountId,
      client_id: p.clientId,
      account_generation: p.accountGeneration,
      client_generation: p.clientGeneration,
      redirect_uri: p.redirectUri,
      scopes: p.scopes,
      narrowed: p.narrowed,
      nonce: p.nonce,
      code_challenge: p.codeChallenge,
      claims: p.claims,
      resources: p.resources,
      sid: p.sid,
      auth_time: p.authTime,
      amr: p.amr,
      acr: p.acr,
      expires_at: p.expiresAt,
      ends_with_session: p.endsWithSession,
      assignment_id: p.assignmentId,
      member_id: p.memberId,
      redeemed_at: null,
      family_id: null,
    }),
  ),
);

/** Marks a code as redeemed, in one conditional statement; gives false where it was redeemed before. */
export const spendCode = changes(
  joint({ row: ['hash'], certain: true }, (db, p: { hash: string; familyId: string; now: number }) =>
    db
      .updateTable('authorization_code')
      .set({ redeemed_at: p.now, family_id: p.familyId })
      .where('hash', '=', p.hash)
      // Not as the condition of an index, by which PostgreSQL may go through all codes that were open until the last vacuum.
      .where((eb) => eb(eb.fn.coalesce('redeemed_at', eb.lit(0)), '=', eb.lit(0)))
      .returning('hash'),
  ),
);

/** The account of a code that can still be redeemed. */
export const openCodeOwner = one(
  (db, p: { hash: string; now: number }) =>
    db
      .selectFrom('authorization_code')
      .select('account_id')
      .where('hash', '=', p.hash)
      .where('redeemed_at', 'is', null)
      .where('expires_at', '>', p.now),
  (row) => row.account_id,
);
