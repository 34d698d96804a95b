import type { ApiScope } from '../../claims/rules/api-scopes.ts';
import type { Client } from '../../clients/store.ts';
import type { ConsentDecision } from '../../consent/decision.ts';
import { findGrants, findLastRevocation } from '../../consent/store.ts';
import { findMembership } from '../../organizations/store.ts';
import type { Work } from '../../platform/database/database.ts';
import type { AuthorizationStep } from './rules/next-step.ts';

/** What an operator approved for a person. */
export interface ApprovedConsent {
  readonly scopes: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
}

/**
 * What an operator approved for a person in an app; null where nothing is. The approval never answers for a person who took the access of
 * the app away, refused it, or declined a scope: decisions §12.
 * @param own the resource identifier of UserInfo, which each app with a consent may read
 */
export function* findApprovedConsent(
  { id: clientId, consentApproval }: Client,
  apiScopes: readonly ApiScope[],
  accountId: string,
  own: string,
): Work<ApprovedConsent | null> {
  if (consentApproval === null) return null;
  const { scopes, organizationId } = consentApproval;
  if (organizationId !== null && (yield* findMembership({ accountId }))?.id !== organizationId) return null;
  if ((yield* findLastRevocation({ accountId, clientId })) !== undefined) return null;
  const grants = yield* findGrants({ accountId, clientId });
  if (grants.some(({ declined }) => declined.size > 0)) return null;
  const approved = new Set<string>(consentApproval.apiScopes.map(({ id }) => id));
  const ofApis = apiScopes.filter(({ id }) => approved.has(id));
  return {
    scopes: new Set([...scopes, 'openid', ...ofApis.map(({ id }) => id)]),
    resources: new Set([own, ...ofApis.map(({ resource }) => resource)]),
  };
}

/** The decision of the operator, where the step needs one. */
export const operatorDecision = (
  step: AuthorizationStep,
  client: Client,
  accountId: string | undefined,
): ConsentDecision | undefined =>
  step.kind !== 'issue' || step.approved === undefined || accountId === undefined
    ? undefined
    : {
        accountId,
        epoch: client.consentEpoch,
        revocation: '',
        told: [],
        asked: step.approved,
        allowed: new Set(step.approved),
        by: 'operator',
      };
