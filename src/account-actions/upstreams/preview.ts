import { decodeJwt } from 'jose';
import type { SignUpSettings } from '../../accounts/sign-up-setting.ts';
import { type Account, findAccount, findByIdentifier } from '../../accounts/store.ts';
import type { Group } from '../../groups/store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { invalid } from '../../platform/failure.ts';
import { findIdentity, type UpstreamIdentity } from '../../upstreams/identity-store.ts';
import { type MappedClaims, type MappedField, mapClaims } from '../../upstreams/rules/claims-map.ts';
import { readGithubPerson } from '../../upstreams/rules/github-person.ts';
import { personOfClaims, type UpstreamPerson } from '../../upstreams/rules/id-token.ts';
import { issuerOf, metadataIssuerOf, subjectClaimOf } from '../../upstreams/rules/issuer.ts';
import type { PreviewOutcome } from '../../upstreams/rules/preview-outcome.ts';
import type { TokenClaims, TokenProblem } from '../../upstreams/rules/token-claims.ts';
import { findUpstream, type Upstream } from '../../upstreams/store.ts';
import { accountStatus } from '../../verdict/rules.ts';
import { profileOfClaims } from '../access/apply-claims.ts';
import { groupChanges, sourceOfUpstream } from '../access/sourced-groups.ts';
import { offerTo, vouchedAddress } from './join.ts';
import { whyNoPictureOf } from './take-picture.ts';
import { upstreamNotFound } from './upstreams.ts';

/** What a token would do. */
export interface ClaimsPreview {
  readonly outcome: PreviewOutcome;
  /** Why, where it signs nobody in. */
  readonly reason: string | null;
  /** The account that it would sign in to; null where the identity is not connected. */
  readonly accountId: string | null;
  readonly displayName: string | null;
  readonly language: string | null;
  /** The address from which a picture would be fetched. */
  readonly picture: string | null;
  /** Why a field that the map names would be left as it is. */
  readonly unchanged: readonly { readonly field: MappedField; readonly reason: string }[];
  readonly joins: readonly string[];
  readonly leaves: readonly string[];
  /** Groups of an organization in which the person is no member. */
  readonly closedGroups: readonly string[];
  /** Groups that it names and that this upstream does not maintain here. */
  readonly unknownGroups: readonly string[];
  /** Why memberships would be left as they are, where it does not say which groups the person is in. */
  readonly groupsLeft: string | null;
}

/** A person who has connected the upstream. */
interface Known {
  readonly account: Account;
  readonly identity: UpstreamIdentity;
}

interface PreviewServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly mail: { readonly available: boolean };
  readonly signUp: SignUpSettings;
}

/** @throws {Failure} `invalid` */
function claimsOf(token: string): Readonly<Record<string, unknown>> {
  try {
    const claims: unknown = token.trim().startsWith('{') ? JSON.parse(token) : decodeJwt(token.trim());
    if (typeof claims === 'object' && claims !== null && !Array.isArray(claims)) return { ...claims };
  } catch {
    // Told below.
  }
  throw invalid('token must be a JWT, or the JSON object of its claims.');
}

const NOTHING = {
  ...{ displayName: null, language: null, picture: null, unchanged: [] },
  ...{ joins: [], leaves: [], closedGroups: [], unknownGroups: [], groupsLeft: null },
} as const;

const refused = (reason: string, accountId: string | null = null): ClaimsPreview => ({
  ...{ outcome: 'refused', reason, accountId, ...NOTHING },
});

/** Who the person is, as the kind reads it. */
function personIn({ kind, issuer }: Upstream, claims: TokenClaims, now: number): UpstreamPerson | TokenProblem {
  if (kind === 'github') return readGithubPerson(issuer, claims, undefined, now);
  const own = issuerOf(metadataIssuerOf(issuer), claims) ?? issuer;
  return personOfClaims(claims, { issuer: own, subjectClaim: subjectClaimOf(issuer) }, now);
}

/**
 * What a sign-in at an upstream with a token would do: whom it signs in, and what it writes into the account by the map of the upstream. Its
 * signature, its times and its audience are not checked, and nothing is written.
 * @throws {Failure} `not found`, `invalid`
 */
export async function previewClaims(services: PreviewServices, id: string, token: string): Promise<ClaimsPreview> {
  const claims = claimsOf(token);
  const now = services.clock();
  return services.database.read(function* preview(): Work<ClaimsPreview> {
    const upstream = yield* findUpstream({ id });
    if (upstream === undefined) throw upstreamNotFound(id);
    if (upstream.status !== 'active') return refused('The upstream is disabled.');
    const person = personIn(upstream, claims, now);
    if ('problem' in person) return refused(`The token is refused: ${person.problem}.`);
    const said = mapClaims(claims, upstream.claimsMap);
    if ('problem' in said) return refused(`The token is refused: ${said.problem}.`);
    const identity = yield* findIdentity({ upstreamId: id, issuer: person.issuer, subject: person.subject });
    const account = identity && (yield* findAccount({ id: identity.accountId }));
    if (identity === undefined || account === undefined) {
      const offer = yield* offerIn(services, upstream, person);
      return { ...offer, accountId: null, ...(yield* writtenBy(upstream, said, undefined, now)) };
    }
    const status = accountStatus(account, now);
    if (status !== 'active') return refused(`The account is ${status}.`, account.id);
    const written = yield* writtenBy(upstream, said, { account, identity }, now);
    return { outcome: 'sign-in', reason: null, accountId: account.id, ...written };
  });
}

/** What a person who is not connected is offered, without an invitation. */
function* offerIn(
  services: PreviewServices,
  upstream: Upstream,
  person: UpstreamPerson,
): Work<Pick<ClaimsPreview, 'outcome' | 'reason'>> {
  const address = vouchedAddress(upstream, person);
  const holder = address === undefined ? undefined : yield* findByIdentifier(address);
  const hasAccount = holder?.profile.emailVerified === true;
  const stranger = { hasAccount, isInvited: false, fixedAddress: address };
  return OFFERS[offerTo(upstream, stranger, services)];
}

const OFFERS = {
  connect: { outcome: 'connect', reason: 'An account has the address. Its owner signs in to it, and connects this.' },
  create: { outcome: 'create', reason: 'The identity is not connected. The person may create an account.' },
  'no proof': { outcome: 'refused', reason: 'A new account needs a proof of its address, and no mail is sent.' },
  'address refused': { outcome: 'refused', reason: 'The domain of the address is none with which people may join.' },
  closed: {
    outcome: 'refused',
    reason: 'The identity is not connected, and people create no account without an invitation here.',
  },
} as const;

/** What a sign-in writes, or the next one of a person who connects it or creates an account. */
function* writtenBy({ id }: Upstream, said: MappedClaims, known: Known | undefined, now: number) {
  const account = known?.account;
  const { written, ignored, same } = profileOfClaims(account?.profile ?? NO_PROFILE, said);
  const noPicture =
    said.picture && known && (yield* whyNoPictureOf(known.identity, known.account.profile.picture, said.picture, now));
  const groups = said.groups && (yield* groupChanges(account?.id ?? null, sourceOfUpstream(id), said.groups));
  const names = (changed: readonly Group[] = []) => changed.map(({ name }) => name);
  return {
    ...{ displayName: written.displayName ?? null, language: written.language ?? null },
    picture: (noPicture ? undefined : said.picture) ?? null,
    unchanged: [
      ...ignored.map(({ field, reason }) => ({ field, reason })),
      ...same.map((field) => ({ field, reason: 'The account has it already.' })),
      ...(noPicture ? [{ field: 'picture' as const, reason: NO_PICTURE[noPicture] }] : []),
    ],
    ...{ joins: names(groups?.joins), leaves: names(groups?.leaves), closedGroups: names(groups?.closed) },
    ...{ unknownGroups: groups?.unknown ?? [], groupsLeft: said.groupsUnknown ?? null },
  };
}

const NO_PROFILE = { displayName: '', language: '' };

const NO_PICTURE = {
  'set here': 'The person or an operator has set a picture, which is never replaced.',
  'removed here': 'The person or an operator has removed the picture of a provider, so that none comes again.',
  'fetched before': 'It was fetched from this address within the last day.',
} as const;
