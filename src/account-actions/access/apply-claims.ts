import { PROFILE_FIELDS } from '../../accounts/fields.ts';
import { type Account, saveAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import type { Work } from '../../platform/database/database.ts';
import { schemasOf } from '../../platform/validation/fields.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { findProblem } from '../../platform/validation/validate.ts';
import type { MappedClaims } from '../../upstreams/rules/claims-map.ts';
import { sourceOfUpstream, syncGroups } from './sourced-groups.ts';

const { displayName, language } = schemasOf(PROFILE_FIELDS, 'schema');

/** What claims write into a profile: values that the fields accept, where they differ. */
export function profileOfClaims(
  profile: Pick<Account['profile'], 'displayName' | 'language'>,
  said: MappedClaims,
): Partial<Pick<Account['profile'], 'displayName' | 'language'>> {
  const isNew = (value: string | undefined, before: string, schema: typeof displayName): value is string =>
    value !== undefined && value !== before && findProblem(schema, value) === undefined;
  return {
    ...(isNew(said.name, profile.displayName, displayName) && { displayName: said.name }),
    ...(isNew(said.language, profile.language, language) && { language: said.language }),
  };
}

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
  const written = profileOfClaims(account.profile, said);
  const fields = Object.keys(written);
  if (said.groups !== undefined) yield* syncGroups(account.id, sourceOfUpstream(upstreamId), said.groups, origin, now);
  if (fields.length === 0) return account;
  const changed = {
    ...account,
    profile: { ...account.profile, ...written },
    updatedAt: Math.max(now, account.updatedAt),
  };
  yield* saveAccount(changed);
  const details = { fields, upstreamId };
  yield* record({ at: now, type: 'account.updated', origin, accountId: account.id, details });
  return changed;
}
