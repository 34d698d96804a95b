import type { Kysely } from 'kysely';
import { hasAccess } from '../access/store.ts';
import { decodeResources, formatScopes, storedScopes } from '../claims/permissions.ts';
import type { Work } from '../platform/database/database.ts';
import type { Tables } from '../platform/database/schema.ts';
import { command, decoder, many, plain, storedField } from '../platform/database/statement.ts';
import type { SessionSelector } from '../sessions/store.ts';
import type { FamilyState } from '../verdict/rules.ts';
import { FAMILY_STATE, INHERITED, STATE_COLUMNS } from './state-fields.ts';
import { revokeFamily } from './token-family-store.ts';

// Statements that revoke many codes and token families at once: those of sessions, of a grant, or all.

type AccountSessions = { readonly accountId: string } & SessionSelector;

/** The grants of an account, revoked ones included: codes and families are indexed by them. */
const grantIdsOf = (db: Kysely<Tables>, accountId: string) =>
  db.selectFrom('consent_grant').select('id').where('account_id', '=', accountId);

const dropOne = command((db, p: { accountId: string; sid: string }) =>
  db
    .deleteFrom('authorization_code')
    .where('grant_id', 'in', grantIdsOf(db, p.accountId))
    .where('sid', '=', p.sid)
    .where('redeemed_at', 'is', null),
);
const dropOthers = command((db, p: { accountId: string; except: string }) =>
  db
    .deleteFrom('authorization_code')
    .where('grant_id', 'in', grantIdsOf(db, p.accountId))
    .where('sid', '<>', p.except)
    .where('redeemed_at', 'is', null),
);

/** Deletes the codes of sessions that were not redeemed. */
export const dropCodes = (sessions: AccountSessions): Work<void> =>
  'sid' in sessions ? dropOne(sessions) : dropOthers(sessions);

const revokeOne = command((db, p: { accountId: string; sid: string; now: number }) =>
  db
    .updateTable('token_family')
    .set({ dead_at: p.now, dead_reason: 'session ended' })
    .where('grant_id', 'in', grantIdsOf(db, p.accountId))
    .where('sid', '=', p.sid)
    .where('dead_at', 'is', null),
);
const revokeOthers = command((db, p: { accountId: string; except: string; now: number }) =>
  db
    .updateTable('token_family')
    .set({ dead_at: p.now, dead_reason: 'session ended' })
    .where('grant_id', 'in', grantIdsOf(db, p.accountId))
    .where('sid', '<>', p.except)
    .where('dead_at', 'is', null),
);

/** Revokes every family of one session, or of all but one. */
export const revokeFamiliesOf = (sessions: AccountSessions, now: number): Work<void> =>
  'sid' in sessions ? revokeOne({ ...sessions, now }) : revokeOthers({ ...sessions, now });

/** The families of an account that live, and began at an instant or later. */
export const familiesBegunSince = many(
  (db, p: { accountId: string; since: number }) =>
    db
      .selectFrom('token_family')
      .select(['id as familyId', 'sid'])
      .where('grant_id', 'in', grantIdsOf(db, p.accountId))
      .where('created_at', '>=', p.since)
      .where('dead_at', 'is', null)
      .orderBy('id'),
  (row) => row,
);

/** Deletes the codes of a session that end with it and were not redeemed; waits for a redemption that is under way. */
export const dropCodesBoundTo = command((db, p: { accountId: string; sid: string }) =>
  db
    .deleteFrom('authorization_code')
    .where('grant_id', 'in', grantIdsOf(db, p.accountId))
    .where('sid', '=', p.sid)
    .where('ends_with_session', '=', 1)
    .where('redeemed_at', 'is', null),
);

/** Revokes the families of a session that end with it. */
export const revokeFamiliesBoundTo = command((db, p: { accountId: string; sid: string; now: number }) =>
  db
    .updateTable('token_family')
    .set({ dead_at: p.now, dead_reason: 'session ended' })
    .where('grant_id', 'in', grantIdsOf(db, p.accountId))
    .where('sid', '=', p.sid)
    .where('ends_with_session', '=', 1)
    .where('dead_at', 'is', null),
);

const dropAll = command((db, _p: object) => db.deleteFrom('authorization_code').where('redeemed_at', 'is', null));

/** Deletes every code that was not redeemed. */
export const dropAllCodes = (): Work<void> => dropAll({});

const withdrawnFromCodes = many((db, p: { grantId: string }) =>
  db
    .selectFrom('authorization_code')
    .select('withdrawn_scopes as before')
    .distinct()
    .where('grant_id', '=', p.grantId)
    .where('redeemed_at', 'is', null),
);
const setWithdrawnFromCodes = command((db, p: { grantId: string; before: string; after: string }) =>
  db
    .updateTable('authorization_code')
    .set({ withdrawn_scopes: p.after })
    .where('grant_id', '=', p.grantId)
    .where('withdrawn_scopes', '=', p.before)
    .where('redeemed_at', 'is', null),
);

/** Withdraws scopes from the codes of a grant that were not redeemed; waits for a redemption that is under way. */
export function* withdrawFromCodes(grantId: string, scopes: readonly string[]): Work<void> {
  for (const { before } of yield* withdrawnFromCodes({ grantId })) {
    yield* setWithdrawnFromCodes({ grantId, before, after: formatScopes([...storedScopes(before), ...scopes]) });
  }
}

const codesWithResources = many(
  (db, p: { grantId: string }) =>
    db
      .selectFrom('authorization_code')
      .select(['hash', 'resources'])
      .where('grant_id', '=', p.grantId)
      .where('resources', 'is not', null)
      .where('redeemed_at', 'is', null),
  ({ hash, resources }) => ({ hash, resources: decodeResources(resources) ?? [] }),
);
const dropCode = command((db, p: { hash: string }) =>
  db.deleteFrom('authorization_code').where('hash', '=', p.hash).where('redeemed_at', 'is', null),
);

/** Deletes the codes of a grant that include one of these resources and were not redeemed. */
export function* dropCodesFor(grantId: string, withdrawn: ReadonlySet<string>): Work<void> {
  for (const { hash, resources } of yield* codesWithResources({ grantId })) {
    if (resources.some((resource) => withdrawn.has(resource))) yield* dropCode({ hash });
  }
}

const withdrawnFromFamilies = many((db, p: { grantId: string }) =>
  db
    .selectFrom('token_family')
    .select('withdrawn_scopes as before')
    .distinct()
    .where('grant_id', '=', p.grantId)
    .where('dead_at', 'is', null),
);
const setWithdrawnFromFamilies = command((db, p: { grantId: string; before: string; after: string }) =>
  db
    .updateTable('token_family')
    .set({ withdrawn_scopes: p.after })
    .where('grant_id', '=', p.grantId)
    .where('withdrawn_scopes', '=', p.before)
    .where('dead_at', 'is', null),
);

/** Withdraws scopes from every family of a grant, for good. */
export function* withdrawFromFamilies(grantId: string, scopes: readonly string[]): Work<void> {
  for (const { before } of yield* withdrawnFromFamilies({ grantId })) {
    yield* setWithdrawnFromFamilies({ grantId, before, after: formatScopes([...storedScopes(before), ...scopes]) });
  }
}

const familiesWithResources = many(
  (db, p: { grantId: string }) =>
    db
      .selectFrom('token_family')
      .select(['id', 'resources'])
      .where('grant_id', '=', p.grantId)
      .where('resources', 'is not', null)
      .where('dead_at', 'is', null),
  ({ id, resources }) => ({ familyId: id, resources: decodeResources(resources) ?? [] }),
);

/** Revokes the families of a grant that include one of these resources. */
export function* revokeFamiliesFor(grantId: string, withdrawn: ReadonlySet<string>, now: number): Work<void> {
  for (const { familyId, resources } of yield* familiesWithResources({ grantId })) {
    const concerned = resources.some((resource) => withdrawn.has(resource));
    if (concerned) yield* revokeFamily({ familyId, reason: 'resource withdrawn', now });
  }
}

const selectStates = (db: Kysely<Tables>) =>
  db
    .selectFrom('token_family as f')
    .innerJoin('account as a', 'a.id', 'f.account_id')
    .innerJoin('client as c', 'c.id', 'f.client_id')
    .innerJoin('consent_grant as g', 'g.id', 'f.grant_id')
    .select(STATE_COLUMNS)
    .select(['c.name', 'g.revoked_at', 'f.account_generation', 'f.client_generation', 'f.ends_at', 'f.dead_at'])
    .select(hasAccess('f').as('has_access'));

const toState: (row: object) => FamilyState = decoder({
  app: storedField('name', plain<string>()),
  state: FAMILY_STATE,
  inherited: INHERITED,
});
const ofGrant = many((db, p: { grantId: string }) => selectStates(db).where('f.grant_id', '=', p.grantId), toState);
const ofSession = many(
  (db, p: { accountId: string; sid: string }) =>
    selectStates(db).where('g.account_id', '=', p.accountId).where('f.sid', '=', p.sid),
  toState,
);
const ofOthers = many(
  (db, p: { accountId: string; except: string }) =>
    selectStates(db).where('g.account_id', '=', p.accountId).where('f.sid', '<>', p.except),
  toState,
);

/** The families of a grant or of sessions, with the state that the verdict needs. */
export function readFamilyStates(which: { readonly grantId: string } | AccountSessions): Work<readonly FamilyState[]> {
  if ('grantId' in which) return ofGrant(which);
  return 'sid' in which ? ofSession(which) : ofOthers(which);
}
