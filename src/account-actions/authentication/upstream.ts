import { lockAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import { claim } from '../../limits/limits.ts';
import { MINUTE } from '../../platform/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { findIdentity, recordIdentityUse, type UpstreamIdentity } from '../../upstreams/identity-store.ts';
import { NOTHING_MAPPED } from '../../upstreams/rules/claims-map.ts';
import type { UpstreamPerson } from '../../upstreams/rules/id-token.ts';
import type { UpstreamOrigin } from '../../upstreams/session-store.ts';
import type { Upstream } from '../../upstreams/store.ts';
import { whyNotVouched } from '../../upstreams/vouching.ts';
import { accountStatus } from '../../verdict/rules.ts';
import { recordProviderOpening } from '../accounts/openings.ts';
import type { Authenticated, AuthenticationRefusal, AuthenticationServices, CheckedAttempt } from './authenticators.ts';

/** A person for whom an upstream vouches, as its ID token says. */
export interface UpstreamAttempt {
  readonly upstream: Upstream;
  readonly person: UpstreamPerson;
  /** The name of the state with which the browser came back: it signs in once. */
  readonly state: string;
  readonly origin: Origin;
}

/** For how long a browser may be away: a state is remembered for longer. */
export const UPSTREAM_STATE_LIFETIME = 15 * MINUTE;

/** What is kept of a state that a browser brought back: the state itself is long, and of no more use. */
export const upstreamStateName = (state: string): string => digest(state);

/** Uses a state up by its {@link upstreamStateName}, inside a unit of work; false where it was used before. */
export const useUpstreamState = (name: string, now: number): Work<boolean> =>
  claim(`upstream state ${name}`, 2 * UPSTREAM_STATE_LIFETIME, now);

/** What a session remembers of the upstream where it began. */
export const upstreamOriginOf = (
  { id: identityId, upstreamId }: Pick<UpstreamIdentity, 'id' | 'upstreamId'>,
  { sid, amr, issuedAt }: UpstreamPerson,
  generation: string,
): UpstreamOrigin => ({ upstreamId, generation, identityId, upstreamSid: sid, amr, issuedAt });

/**
 * Authenticates a person by another provider: the account is that of upstream, issuer and subject, and of nothing else that the provider
 * says (decisions §14). Nothing can be guessed here: the token was verified before.
 */
export async function authenticateByUpstream(
  _services: AuthenticationServices,
  { upstream, person, state, origin }: UpstreamAttempt,
  now: number,
): Promise<CheckedAttempt> {
  function* refuse(
    refusal: AuthenticationRefusal,
    reason: string,
    accountId: string | null,
  ): Work<AuthenticationRefusal> {
    const details = { reason, method: 'upstream', upstream: upstream.name };
    yield* record({ at: now, type: 'sign_in.failed', outcome: 'failure', origin, accountId, details });
    return refusal;
  }

  function* complete(): Work<Authenticated | AuthenticationRefusal> {
    const key = { upstreamId: upstream.id, issuer: person.issuer, subject: person.subject };
    const found = yield* findIdentity(key);
    if (found === undefined) return yield* refuse({ kind: 'changed' }, 'the identity is not connected', null);
    const account = yield* lockAccount({ id: found.accountId });
    // Since then it may have been disconnected, and connected to another account.
    const identity = yield* findIdentity(key);
    if (account === undefined || identity?.accountId !== account.id) {
      return yield* refuse({ kind: 'changed' }, 'the identity is not connected', found.accountId);
    }
    const status = accountStatus(account, now);
    if (status !== 'active') return yield* refuse({ kind: status, account }, status, account.id);
    const cameFrom = upstreamOriginOf(identity, person, upstream.generation);
    const why = yield* whyNotVouched(cameFrom, now);
    if (why !== undefined) return yield* refuse({ kind: 'changed' }, why, account.id);
    if (!(yield* useUpstreamState(state, now))) {
      return yield* refuse({ kind: 'changed' }, 'the response was used before', account.id);
    }
    yield* recordIdentityUse({ id: identity.id, now });
    // Who enabled the provider meanwhile may be who signs in.
    yield* recordProviderOpening(upstream, account.id, 'connected', now, identity.createdAt);
    return {
      ...{ kind: 'authenticated', account, method: 'upstream' },
      ...{ factorSince: identity.createdAt, upstream: cameFrom, mapped: person.mapped ?? NOTHING_MAPPED },
    };
  }
  return { kind: 'checked', complete };
}
