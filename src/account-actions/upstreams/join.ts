import { isOpen, mayHaveAddress } from '../../accounts/rules/joining.ts';
import { identifierKey } from '../../accounts/rules/profile.ts';
import type { SignUpSettings } from '../../accounts/sign-up-setting.ts';
import { randomName } from '../../platform/crypto/secrets.ts';
import type { UpstreamIdentity } from '../../upstreams/identity-store.ts';
import { isAuthoritativeFor } from '../../upstreams/rules/domains.ts';
import type { UpstreamPerson } from '../../upstreams/rules/id-token.ts';
import type { Upstream } from '../../upstreams/store.ts';

/** A person whom an upstream vouches for, and who has no account here yet. */
export interface JoiningPerson {
  readonly upstreamId: string;
  /** Of the upstream when the browser came back. */
  readonly generation: string;
  readonly person: UpstreamPerson;
  /** The state with which the browser came back: it creates one account. */
  readonly state: string;
  /** When the browser came back with it. */
  readonly at: number;
}

/** The upstream no longer vouches for the person, or they have an account meanwhile. */
export class NotVouched extends Error {
  override readonly name = 'NotVouched';
}

const MODES = { nobody: 'closed', invited: 'invitation', domains: 'domains', anyone: 'open' } as const;

/** Who may create an account with an upstream, as the settings of sign-up say it. */
export const signUpOf = ({
  signUp,
  signUpDomains,
  domains,
}: Pick<Upstream, 'signUp' | 'signUpDomains' | 'domains'>): SignUpSettings => ({
  mode: MODES[signUp],
  domains: [...signUpDomains, ...domains],
});

/**
 * The address of a person that needs no other proof: one that the upstream verified, of a domain for which it is authoritative (decisions
 * §14). Undefined where there is none.
 */
export const vouchedAddress = (
  upstream: Pick<Upstream, 'domains'>,
  { email, emailVerified }: Pick<UpstreamPerson, 'email' | 'emailVerified'>,
): string | undefined =>
  email !== undefined && emailVerified && isAuthoritativeFor(upstream, identifierKey(email))
    ? identifierKey(email)
    : undefined;

/** Whether a person may create an account with this address: where the installation names domains, these hold as well. */
export const mayJoinWith = (upstream: Upstream, installation: SignUpSettings, email: string): boolean =>
  mayHaveAddress(signUpOf(upstream), email) && mayHaveAddress(installation, email);

/** What is known of a person whom an upstream vouches for, and who is not connected. */
export interface Stranger {
  /** Whether an account here has the address for which the upstream vouches: {@link vouchedAddress}. */
  readonly hasAccount: boolean;
  /** Whether the browser has opened an invitation. */
  readonly isInvited: boolean;
  /** The address of a new account that needs no proof and cannot be changed. */
  readonly fixedAddress: string | undefined;
}

/**
 * What a person who is not connected is offered: to connect the account that has their address, or to create one, where they can prove an
 * address if that is needed.
 */
export function offerTo(
  upstream: Upstream,
  { hasAccount, isInvited, fixedAddress }: Stranger,
  { mail, signUp: installation }: { readonly mail: { readonly available: boolean }; readonly signUp: SignUpSettings },
): 'connect' | 'create' | 'no proof' | 'address refused' | 'closed' {
  if (hasAccount) return 'connect';
  const settings = signUpOf(upstream);
  if (!isOpen(settings) && !(settings.mode === 'invitation' && isInvited)) return 'closed';
  if (upstream.signUp === 'domains' && !mail.available && fixedAddress === undefined) return 'no proof';
  return fixedAddress === undefined || mayJoinWith(upstream, installation, fixedAddress) ? 'create' : 'address refused';
}

/** What the upstream called a person, for its owner to recognize. */
export const labelOf = ({ email, name }: UpstreamPerson): string | null => email ?? name ?? null;

/** An identity as it is connected to an account. */
export const newIdentity = (
  upstreamId: string,
  person: UpstreamPerson,
  accountId: string,
  createdAt: number,
): UpstreamIdentity => ({
  ...{ id: randomName(), upstreamId, issuer: person.issuer, subject: person.subject, accountId },
  ...{ label: labelOf(person), createdAt, lastUsedAt: null, endedAt: null },
  ...{ pictureHash: null, pictureAt: null, pictureName: null },
});
