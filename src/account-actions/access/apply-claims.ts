import { PROFILE_FIELDS } from '../../accounts/fields.ts';
import { type Account, saveAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import type { Work } from '../../platform/database/database.ts';
import { schemasOf } from '../../platform/validation/fields.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { findProblem } from '../../platform/validation/validate.ts';
import { recordEffect } from '../../upstreams/effect-store.ts';
import { type OperatorBehind, operatorsBehind } from '../../upstreams/operators-behind.ts';
import type { ClaimsMap, IgnoredClaim, MappedClaims } from '../../upstreams/rules/claims-map.ts';
import { findUpstream } from '../../upstreams/store.ts';
import { sourceOfUpstream, syncGroups } from './sourced-groups.ts';

const { displayName, language } = schemasOf(PROFILE_FIELDS, 'schema');

type MappedProfile = Pick<Account['profile'], 'displayName' | 'language'>;

/** What claims write into a profile, and what not. */
export interface ProfileOfClaims {
  /** Values that the fields accept, where they differ. */
  readonly written: Partial<MappedProfile>;
  /** Claims that no field accepts, or that are absent. */
  readonly ignored: readonly IgnoredClaim[];
  /** Fields that have the values already. */
  readonly same: readonly ('name' | 'language')[];
}

/** What claims write into a profile. */
export function profileOfClaims(
  profile: MappedProfile,
  { name, language: tag, ignored }: MappedClaims,
): ProfileOfClaims {
  const rows = [
    { field: 'name', key: 'displayName', value: name, before: profile.displayName, schema: displayName },
    { field: 'language', key: 'language', value: tag, before: profile.language, schema: language },
  ] as const;
  const given = rows.flatMap((row) => (row.value === undefined ? [] : [{ ...row, value: row.value }]));
  const isRefused = ({ schema, value }: (typeof given)[number]): boolean => findProblem(schema, value) !== undefined;
  const accepted = given.filter((row) => !isRefused(row));
  return {
    written: Object.fromEntries(
      accepted.filter((row) => row.value !== row.before).map(({ key, value }) => [key, value]),
    ),
    ignored: [...ignored, ...given.filter(isRefused).map(({ field }) => unaccepted(field))],
    same: accepted.filter((row) => row.value === row.before).map(({ field }) => field),
  };
}

const unaccepted = (field: 'name' | 'language'): IgnoredClaim => ({
  ...{ field, isAbsent: false },
  reason:
    field === 'name'
      ? 'An account cannot have it as its display name.'
      : 'It is no language tag whose language has two letters, such as pt-BR.',
});

/** Claims that are there and that nothing accepts, whatever the account has. */
export const refusedClaims = (said: MappedClaims): readonly IgnoredClaim[] =>
  profileOfClaims({ displayName: '', language: '' }, said).ignored.filter(({ isAbsent }) => !isAbsent);

/**
 * Writes what an upstream says of a person into the account, as its map declares (decisions §14), inside the unit of work that signs them in and
 * holds the account's lock. Username, address and roles are never among it.
 * @returns the account as it is then
 */
export function* applyClaims(
  account: Account,
  upstreamId: string,
  said: MappedClaims,
  origin: Origin,
  now: number,
): Work<Account> {
  const { written } = profileOfClaims(account.profile, said);
  const fields = Object.keys(written);
  const source = sourceOfUpstream(upstreamId);
  if (said.groups !== undefined) {
    yield* syncGroups(account.id, source, said.groups, origin, now, () => behindClaims(upstreamId, ['groups']));
  }
  if (fields.length === 0) return account;
  const changed = {
    ...account,
    profile: { ...account.profile, ...written },
    updatedAt: Math.max(now, account.updatedAt),
  };
  yield* saveAccount(changed);
  const named = fields.map((field) => (field === 'displayName' ? 'name' : 'language'));
  yield* recordEffect(yield* behindClaims(upstreamId, named), account.id, 'written');
  const details = { fields, upstreamId };
  yield* record({ at: now, type: 'account.updated', origin, accountId: account.id, details });
  return changed;
}

/** The operators by whom an upstream writes some claims. */
function* behindClaims(upstreamId: string, fields: readonly (keyof ClaimsMap)[]): Work<readonly OperatorBehind[]> {
  const upstream = yield* findUpstream({ id: upstreamId });
  return upstream === undefined ? [] : yield* operatorsBehind(upstream, { by: 'claims', fields });
}
