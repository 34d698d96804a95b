import type { AuditEvent } from '../../audit/audit.ts';
import type { RecordThrottled } from '../../audit/throttle.ts';
import { remainingNames } from '../../claims/claims.ts';
import type { Person } from '../../claims/rules/userinfo.ts';
import { storedScopes } from '../../claims/scopes.ts';
import { type HolderRecord, readHolder } from '../../credentials/standing-store.ts';
import type { AsymmetricAlg } from '../../keys/algorithms.ts';
import type { Keys } from '../../keys/keys.ts';
import { verifyToken } from '../../keys/tokens.ts';
import { take } from '../../limits/limits.ts';
import { findMembership, type OwnMembership } from '../../organizations/store.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Limits } from '../../platform/config/limits.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Origin } from '../../platform/http/origin.ts';
import { rateLimited } from '../../platform/oauth-error.ts';
import { refuseToken } from '../../verdict/refusals.ts';
import { judge } from '../../verdict/rules.ts';
import { misuseOf } from '../token/misuse.ts';
import { readClaims, type VerifiedToken } from '../token/rules/claims.ts';

export interface UserInfoParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly keys: Keys;
  readonly issuer: string;
  readonly limits: Limits;
  readonly recordThrottled: RecordThrottled;
}

/** Whom UserInfo is about, and for whom it is. */
export interface ReadUser {
  readonly person: Person;
  readonly scopes: ReadonlySet<string>;
  /** Claims that were granted one by one, for the standard answer. */
  readonly claims: readonly string[];
  readonly client: { readonly id: string; readonly userinfoAlg: AsymmetricAlg | null };
}

const INVALID = { kind: 'invalid', reason: 'not an access token of this service' } as const;

/**
 * Whom an access token stands for, and which of its scopes and single claims the person still grants: decided on what the
 * database says now.
 * @throws {OAuthError} 401 `invalid_token`, or one of the three 403s
 */
export async function readTokenHolder(
  { database, clock, keys, issuer, limits, recordThrottled }: UserInfoParts,
  token: string,
  origin: Origin,
): Promise<ReadUser> {
  for (;;) {
    const now = clock();
    const refused = (event: Pick<AuditEvent, 'type'> & Partial<AuditEvent>) =>
      recordThrottled({ at: now, outcome: 'failure', origin, ...event });
    const opened = await verifyToken(keys, 'access', token);
    const verified = opened && readClaims(opened.claims, 'access', issuer, now);
    if (opened === undefined || verified === undefined) {
      const misuse = await misuseOf(keys, 'access', token, { opened, issuer, now });
      if (misuse !== undefined) await refused(misuse);
      throw refuseToken(INVALID);
    }
    if (limits.userinfo !== null) {
      const { clientId } = verified;
      const about = { name: 'userinfo', origin, clientId } as const;
      const seconds = await database.commit(() => take(`userinfo ${clientId}`, limits.userinfo, now, about));
      if (seconds > 0) throw rateLimited(seconds);
    }
    const scopes = storedScopes(verified.scope);
    const read: (token: VerifiedToken) => Work<Found | undefined> = scopes.has('organization.read')
      ? readMember
      : readHolder;
    const found = await database.read(() => read(verified));
    // A deleted account or client has taken its families with it.
    if (found === undefined) {
      await refused({ type: 'token.refused', details: { reason: 'not on record' } });
      throw refuseToken(INVALID);
    }
    if (found.keyVersion !== opened.keySet.version) {
      // The key set changed since this process read it: the token's key may have been dropped.
      await keys.refresh(found.keyVersion);
      continue;
    }
    const verdict = judge(found.standing, found.inherited, now);
    if (verdict.kind !== 'live') {
      const { accountId, clientId, familyId } = verified;
      const reason = verdict.kind === 'invalid' ? verdict.reason : verdict.kind;
      await refused({ type: 'token.refused', accountId, clientId, details: { reason, familyId } });
      throw refuseToken(verdict);
    }
    const { profile, createdAt, updatedAt, userinfoAlg, withdrawn } = found;
    return {
      person: { id: verified.accountId, profile, organization: found.organization ?? null, createdAt, updatedAt },
      scopes: withdrawn.size === 0 ? scopes : scopes.difference(withdrawn),
      client: { id: verified.clientId, userinfoAlg },
      claims: remainingNames(verified.claims, withdrawn),
    };
  }
}

interface Found extends HolderRecord {
  readonly organization?: OwnMembership | undefined;
}

/** A holder with the organization, which most tokens do not ask for. */
function* readMember(token: VerifiedToken): Work<Found | undefined> {
  const holder = yield* readHolder(token);
  return holder && { ...holder, organization: yield* findMembership({ accountId: token.accountId }) };
}
