import { identifierKey, newProfile } from '../../accounts/rules/profile.ts';
import type { SignUpSettings } from '../../accounts/sign-up-setting.ts';
import type { FactorUse } from '../../authenticators/rules/factors.ts';
import type { Work } from '../../platform/database/database.ts';
import { recordEffect } from '../../upstreams/effect-store.ts';
import { insertIdentity } from '../../upstreams/identity-store.ts';
import { operatorsBehind } from '../../upstreams/operators-behind.ts';
import { holdUpstream } from '../../upstreams/store.ts';
import { VOUCHED_FOR, whyNotVouched } from '../../upstreams/vouching.ts';
import { addAccount, JoiningRefused, newAccount } from '../accounts/create-account.ts';
import { recordProviderOpening } from '../accounts/openings.ts';
import { upstreamOriginOf, useUpstreamState } from '../authentication/upstream.ts';
import type { SecurityNoticeServices } from '../notices/notices.ts';
import { type SignedIn, type SignInBrowser, startSession } from '../sign-in/sign-in.ts';
import {
  type JoiningPerson,
  mayJoinWith,
  NotVouched,
  newIdentity,
  signUpOf,
  vouchedAddress,
} from '../upstreams/join.ts';
import { joinInvited } from './invitations.ts';

/** The new account. */
interface JoiningAccount {
  readonly id: string;
  readonly now: number;
  /** Whether the person has just proved the address here. */
  readonly isAddressProved: boolean;
  /** The secret of the invitation that the person opened, and accepts with it. */
  readonly invitation: string | null;
}

/**
 * Creates the account of a person whom an upstream vouches for, and signs in to it, inside a unit of work. What is refused is thrown, so
 * that nothing of the unit is kept.
 * @throws {FieldTaken}
 * @throws {InvitationRefused}
 * @throws {JoiningRefused}
 * @throws {NotVouched}
 */
export function* joinThroughUpstream(
  services: SecurityNoticeServices & { readonly signUp: SignUpSettings },
  { upstreamId, generation, person, state, at }: JoiningPerson,
  fields: { readonly displayName: string; readonly username: string; readonly email: string },
  { id, now, isAddressProved, invitation }: JoiningAccount,
  browser: SignInBrowser,
): Work<SignedIn> {
  // Another message does not make the word of the upstream last longer.
  if (now - at >= VOUCHED_FOR) throw new NotVouched();
  // Before anything is decided by it: an operator who disables it, or lets nobody join any more, waits for this or comes before it.
  const upstream = yield* holdUpstream({ id: upstreamId });
  if (upstream?.status !== 'active') throw new NotVouched();
  if (!mayJoinWith(upstream, services.signUp, fields.email)) throw new JoiningRefused();
  const isVouched = vouchedAddress(upstream, person) === identifierKey(fields.email);
  const isProved = isAddressProved || isVouched;
  // An address that is only typed is of any domain.
  if (upstream.signUp === 'domains' && !isProved) throw new JoiningRefused();
  const account = newAccount(id, newProfile({ ...fields, emailVerified: isProved }, id, now), null, now);
  const isInvited = invitation !== null;
  const by = { kind: 'person', signUp: signUpOf(upstream), isInvited, isAddressProved: isProved } as const;
  yield* addAccount(account, by, browser.origin);
  const email = identifierKey(fields.email);
  const behind = { by: 'sign-up', email, isVouched: isVouched && !isAddressProved } as const;
  yield* recordEffect(yield* operatorsBehind(upstream, behind), id, 'joined');
  const identity = newIdentity(upstreamId, person, id, account.createdAt);
  if (!(yield* insertIdentity(identity))) throw new NotVouched();
  yield* recordProviderOpening(upstream, id, 'joined', account.createdAt);
  const cameFrom = upstreamOriginOf(identity, person, generation);
  if ((yield* whyNotVouched(cameFrom, now)) !== undefined) throw new NotVouched();
  if (!(yield* useUpstreamState(state, now))) throw new NotVouched();
  if (invitation !== null) yield* joinInvited(invitation, account, now, browser.origin);
  const used: FactorUse = { method: 'upstream', factorSince: identity.createdAt, upstream: cameFrom };
  return yield* startSession(services, account, [used], browser, now);
}
