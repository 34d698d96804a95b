import { type ApiScopeId, MEMBER_SCOPES } from '../../claims/permissions.ts';
import type { Client } from '../store.ts';

/** What an operator approved for the people who use an app. */
export interface ConsentApproval {
  /** The scopes about the person. */
  readonly scopes: readonly string[];
  readonly apiScopes: readonly { readonly id: ApiScopeId; readonly name: string; readonly resource: string }[];
  /** The organization whose members it is for; null for everyone. */
  readonly organizationId: string | null;
  readonly approvedAt: number;
  readonly approvedBy: { readonly type: string; readonly id: string | null };
}

type ConsentFields = Pick<Client, 'consent' | 'type' | 'redirectUris'>;

/** What speaks against a registration with `consent: operator`; undefined if nothing does. */
export function consentProblem({ consent, type, redirectUris }: ConsentFields): string | undefined {
  if (consent === 'ask') return undefined;
  // RFC 8252 §8.6: another program could claim the address, and nobody would be asked.
  if (type === 'public') return 'consent must be ask for a public client, which cannot prove who it is.';
  const other = redirectUris.find((uri) => !uri.toLowerCase().startsWith('https:'));
  return other && `consent must be ask for a client with the redirect URI ${other}: it may be operator for https only.`;
}

/** The fields of a registration that an approval is for. */
const APPROVED = [
  ...(['consent', 'scopes', 'redirectUris', 'grantTypes', 'endpoints', 'owner', 'access'] as const),
  'groupsClaim',
] as const;

/** Whether the app would learn of groups that have nothing to do with it, which nobody has allowed. */
export const showsMoreGroups = (before: Pick<Client, 'groupsClaim'>, after: Pick<Client, 'groupsClaim'>): boolean =>
  before.groupsClaim === 'assigned' && after.groupsClaim === 'all';

/** Whether a registration has changed so that it must be approved again. */
export const needsNewApproval = (before: Client, after: Client): boolean =>
  APPROVED.some((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]));

/** A person consents to an owner and to the addresses that receive codes; others need a new consent. */
export function needsNewConsent(before: Client, after: Client): boolean {
  // What had no switch has one again, and nobody has decided on it.
  const hasNewSwitch =
    before.access === 'assigned' &&
    after.access === 'everyone' &&
    MEMBER_SCOPES.some((scope) => after.scopes?.includes(scope));
  return (
    hasNewSwitch ||
    showsMoreGroups(before, after) ||
    before.owner !== after.owner ||
    after.redirectUris.some((uri) => !before.redirectUris.includes(uri))
  );
}
