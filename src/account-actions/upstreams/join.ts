import { mayHaveAddress } from '../../accounts/rules/joining.ts';
import { newProfile } from '../../accounts/rules/profile.ts';
import type { FactorUse } from '../../authenticators/rules/factors.ts';
import type { SignUpSettings } from '../../platform/config/sign-up.ts';
import { randomIdentifier } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Session } from '../../sessions/store.ts';
import { insertIdentity, type UpstreamIdentity } from '../../upstreams/identity-store.ts';
import type { UpstreamPerson } from '../../upstreams/rules/id-token.ts';
import { findUpstream, type Upstream } from '../../upstreams/store.ts';
import { whyNotVouched } from '../../upstreams/vouching.ts';
import { addAccount, JoiningRefused, newAccount } from '../accounts/create-account.ts';
import { upstreamOriginOf, useUpstreamState } from '../authentication/upstream.ts';
import type { SecurityNoticeServices } from '../notices/notices.ts';
import { type SignedIn, type SignInBrowser, startSession } from '../sign-in/sign-in.ts';

/** A person whom an upstream vouches for, and who has no account here yet. */
export interface JoiningPerson {
  readonly upstreamId: string;
  readonly person: UpstreamPerson;
  /** The state with which the browser came back: it creates one account. */
  readonly state: string;
}

/** The upstream no longer vouches for the person, or they have an account meanwhile. */
export class NotVouched extends Error {
  override readonly name = 'NotVouched';
}

/** Who may create an account with an upstream, as the settings of sign-up say it. */
export const signUpOf = ({ signUp, signUpDomains }: Pick<Upstream, 'signUp' | 'signUpDomains'>): SignUpSettings => ({
  mode: signUp === 'anyone' ? 'open' : signUp === 'domains' ? 'domains' : 'closed',
  domains: signUpDomains,
});

/** Whether a person may create an account with this address: where the installation names domains, these hold as well. */
export const mayJoinWith = (upstream: Upstream, installation: SignUpSettings, email: string): boolean =>
  mayHaveAddress(signUpOf(upstream), email) && mayHaveAddress(installation, email);

/** What the upstream called a person, for its owner to recognize. */
export const labelOf = ({ email, name }: UpstreamPerson): string | null => email ?? name ?? null;

/** An identity as it is connected to an account. */
export const newIdentity = (
  upstreamId: string,
  person: UpstreamPerson,
  accountId: string,
  createdAt: number,
): UpstreamIdentity => ({
  ...{ id: randomIdentifier(), upstreamId, issuer: person.issuer, subject: person.subject, accountId },
  ...{ label: labelOf(person), createdAt, lastUsedAt: null, endedAt: null },
});

/** The new account. */
interface JoiningAccount {
  readonly id: string;
  readonly now: number;
  /** Whether the person has just proved the address. */
  readonly isAddressProved: boolean;
}

/**
 * Creates the account of a person whom an upstream vouches for, and signs in to it, inside a unit of work. What is refused is thrown, so
 * that nothing of the unit is kept.
 * @throws {FieldTaken}
 * @throws {JoiningRefused}
 * @throws {NotVouched}
 */
export function* joinThroughUpstream(
  services: SecurityNoticeServices & { readonly signUp: SignUpSettings },
  { upstreamId, person, state }: JoiningPerson,
  fields: { readonly displayName: string; readonly username: string; readonly email: string },
  { id, now, isAddressProved }: JoiningAccount,
  browser: SignInBrowser,
  onSignedIn: (session: Session) => Work<void>,
): Work<SignedIn> {
  const upstream = yield* findUpstream({ id: upstreamId });
  if (upstream === undefined) throw new NotVouched();
  if (!mayJoinWith(upstream, services.signUp, fields.email)) throw new JoiningRefused();
  const account = newAccount(id, newProfile({ ...fields, emailVerified: isAddressProved }, id, now), null, now);
  const by = { kind: 'person', signUp: signUpOf(upstream), isInvited: false, isAddressProved } as const;
  yield* addAccount(account, by, browser.origin);
  const identity = newIdentity(upstreamId, person, id, account.createdAt);
  if (!(yield* insertIdentity(identity))) throw new NotVouched();
  const cameFrom = upstreamOriginOf(identity, person);
  if ((yield* whyNotVouched(cameFrom, now)) !== undefined) throw new NotVouched();
  if (!(yield* useUpstreamState(state, now))) throw new NotVouched();
  const used: FactorUse = { method: 'upstream', factorSince: identity.createdAt, upstream: cameFrom };
  return yield* startSession(services, account, [used], browser, now, onSignedIn);
}
