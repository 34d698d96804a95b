import type { Work } from '../platform/database/database.ts';
import { changesSince, type KeptChange, putBack } from '../platform/kept-changes.ts';
import { actsOnUpstream, type UpstreamRights } from './act-store.ts';
import type { ClaimsMap } from './rules/claims-map.ts';
import { domainIn } from './rules/domains.ts';
import { SIGN_UP_MODES, type Upstream, type UpstreamSignUp } from './store.ts';

/** By what an upstream does something that an operator may have set. */
type Question =
  /** That it signs somebody in, as anybody whom it knows. */
  | { readonly by: 'identity' }
  /** That a person creates an account with an address, as it is compared. */
  | { readonly by: 'sign-up'; readonly email: string; readonly isVouched: boolean }
  /** That claims are written. */
  | { readonly by: 'claims'; readonly fields: readonly (keyof ClaimsMap)[] };

/** From the narrowest to the widest. */
const widthOf = (mode: UpstreamSignUp): number => SIGN_UP_MODES.indexOf(mode);

/** An operator without whom an upstream would not do something now. */
export interface OperatorBehind {
  readonly operatorId: string;
  /** When they last did that on which it rests. */
  readonly actedAt: number;
}

/**
 * The operators without whom an upstream would not do something now, as far as each of them set it: they registered or enabled the
 * upstream, or changed what it depends on. One who only narrowed it is not among them.
 */
export function* operatorsBehind(upstream: Upstream, question: Question): Work<readonly OperatorBehind[]> {
  const found = new Map<string, number>();
  for (const { operatorId, kind, changes, actedAt } of yield* actsOnUpstream({ upstreamId: upstream.id })) {
    const at = kind === 'registered' || kind === 'enabled' ? actedAt : changedAt(upstream, changes, question);
    if (at !== undefined) found.set(operatorId, Math.max(at, found.get(operatorId) ?? at));
  }
  return [...found].map(([operatorId, actedAt]) => ({ operatorId, actedAt }));
}

/** The last of somebody's changes without which, and without the later ones, it would not happen. */
function changedAt(upstream: Upstream, changes: readonly KeptChange[], question: Question): number | undefined {
  const times = changes.flatMap(({ at, fields }) => Object.values(fields).map(({ from = at }) => from));
  return times
    .sort((one, other) => other - one)
    .find((since) => {
      const earlier = putBack<UpstreamRights>(upstream, changesSince(changes, since));
      return restsOn(upstream, { ...upstream, ...earlier }, question);
    });
}

/** Whether it rests on how an upstream differs from what it was without somebody's changes. */
function restsOn(upstream: Upstream, without: UpstreamRights, question: Question): boolean {
  if (question.by === 'identity') return false;
  if (question.by === 'claims') {
    return question.fields.some((field) => upstream.claimsMap[field] !== without.claimsMap[field]);
  }
  const domain = domainIn(question.email) ?? '';
  const isAdded = (list: 'domains' | 'signUpDomains'): boolean =>
    upstream[list].includes(domain) && !without[list].includes(domain);
  if (widthOf(upstream.signUp) > widthOf(without.signUp)) return true;
  if (question.isVouched && isAdded('domains')) return true;
  return upstream.signUp === 'domains' && (isAdded('domains') || isAdded('signUpDomains'));
}
