import type { Insertable, Kysely } from 'kysely';
import { hasAccess } from '../access/store.ts';
import type { Profile } from '../accounts/fields.ts';
import { JOINED_PROFILE_COLUMNS, toProfile } from '../accounts/store.ts';
import { endedScopes, endpointSetCodec } from '../claims/endpoint-set.ts';
import { claimsCodec, remainingClaims, remainingScopes, storedResources, storedScopes } from '../claims/permissions.ts';
import { MINUTE } from '../platform/clock.ts';
import { pick } from '../platform/database/columns.ts';
import type { Work } from '../platform/database/database.ts';
import { forUpdate } from '../platform/database/row-locks.ts';
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
  jsonOr,
  one,
  plain,
  readAs,
  storedField,
  type Values,
} from '../platform/database/statement.ts';
import { INHERITED, REGISTERED_SCOPES, STATE, STATE_COLUMNS } from './state-fields.ts';
import type { AuthorizationCodeTable } from './tables.ts';

/** The lifetime of a code, in milliseconds. */
export const CODE_LIFETIME = MINUTE;

/** What is stored of a code when it is issued. */
const CODE = {
  endpointSet: storedField('face', endpointSetCodec),
  grantId: storedField('grant_id', plain<string>()),
  accountId: storedField('account_id', plain<string>()),
  clientId: storedField('client_id', plain<string>()),
  inherited: INHERITED,
  redirectUri: storedField('redirect_uri', plain<string>()),
  /** The granted scopes; in a record without those that ended since: withdrawn by the person, or taken from the client. */
  scopes: storedField('scopes', plain<string>()),
  /** Whether those are fewer than were requested. */
  narrowed: storedField('narrowed', bit),
  /** As JSON: a nonce may hold a NUL, which PostgreSQL does not store in a text. */
  nonce: storedField('nonce', jsonOr<string, null>(null)),
  codeChallenge: storedField('code_challenge', plain<string | null>()),
  /** The single claims that were granted beside the scopes; in a record without those that were withdrawn since. */
  claims: storedField('claims', claimsCodec),
  /** The granted resources; null where the request named none. */
  resources: storedField('resources', storedResources),
  sid: storedField('sid', plain<string>()),
  authTime: storedField('auth_time', plain<number>()),
  /** How the person authenticated. */
  amr: storedField('amr', json<readonly string[]>()),
  acr: storedField('acr', plain<string | null>()),
  expiresAt: storedField('expires_at', plain<number>()),
  /** Whether it ends, and its tokens are revoked, when the person ends the browser session. */
  endsWithSession: storedField('ends_with_session', bit),
  /** The assignment under which the person uses the app; null where it is open to everyone. */
  assignmentId: storedField('assignment_id', plain<string | null>()),
  /** The membership by which that reaches the person. */
  memberId: storedField('member_id', plain<string | null>()),
} as const;

const NEW_CODE = { hash: storedField('hash', plain<string>()), ...CODE } as const;

export type NewCode = Values<typeof NEW_CODE>;

/** What happened to a code since. */
const SINCE = {
  redeemed: storedField(
    'redeemed_at',
    readAs((at: number | null) => at !== null),
  ),
  familyId: storedField('family_id', plain<string | null>()),
  withdrawn: storedField('withdrawn_scopes', readAs(storedScopes)),
} as const;

const RECORD = {
  ...CODE,
  ...SINCE,
  state: STATE,
  registered: REGISTERED_SCOPES,
  keyVersion: storedField('key_version', plain<string>()),
  updatedAt: storedField('updated_at', plain<number>()),
} as const;

/** A stored authorization code, with all that the verdict needs, read at one moment. */
export interface CodeRecord extends Values<typeof RECORD> {
  readonly issuedAt: number;
  readonly profile: Profile;
}

const selectLocked = (db: Kysely<Tables>, p: { hash: string }) =>
  db
    .selectFrom('authorization_code as d')
    .innerJoin('account as a', 'a.id', 'd.account_id')
    .innerJoin('client as c', 'c.id', 'd.client_id')
    .innerJoin('consent_grant as g', 'g.id', 'd.grant_id')
    .innerJoin('key_set as k', (join) => join.on('k.id', '=', 1))
    .where('d.hash', '=', p.hash)
    .select([...columnsOf(CODE), ...columnsOf(SINCE)].map((column) => `d.${column}` as const))
    .select(STATE_COLUMNS)
    .select(['a.updated_at', 'g.revoked_at', 'c.scopes as registered_scopes', 'k.version as key_version'])
    .select(JOINED_PROFILE_COLUMNS)
    .select(hasAccess('d').as('has_access'))
    .$call((query) => forUpdate(query, 'd'));

const decode = decoder(RECORD);

function toCode(row: object): CodeRecord {
  const code = decode(row);
  const ended = endedScopes(code.endpointSet, code.withdrawn, code.registered);
  const scopes = remainingScopes(code.scopes, ended);
  return {
    ...code,
    scopes,
    narrowed: code.narrowed || scopes !== code.scopes,
    claims: remainingClaims(code.claims, ended),
    issuedAt: code.expiresAt - CODE_LIFETIME,
    profile: toProfile(row),
  };
}

/** Reads a code that the same unit of work is about to redeem. */
export const lockCode = one(joint({ row: ['hash'] }, selectLocked), toCode);

const insert = command(
  joint({ row: ['hash'] }, (db, p: Insertable<AuthorizationCodeTable>) =>
    db.insertInto('authorization_code').values(pick(p, [...columnsOf(NEW_CODE), 'redeemed_at', 'family_id'])),
  ),
);

export const insertCode = (code: NewCode): Work<void> =>
  insert({ ...encode(NEW_CODE, code), redeemed_at: null, family_id: null });

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
