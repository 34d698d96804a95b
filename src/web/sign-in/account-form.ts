import { ofAllAskers, take } from '../../limits/limits.ts';
import type { Work } from '../../platform/database/database.ts';
import { limited } from '../../platform/failure.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import type { Session } from '../../sessions/store.ts';
import type { PageServices } from './routes.ts';

/** A form of a signed-in person. */
interface SubmittedForm {
  readonly session: Pick<Session, 'accountId' | 'hash'>;
  readonly origin: Origin;
}

/**
 * Counts a form of a signed-in person: for the session, and for all sessions of the account together, which one session alone cannot use up.
 * @throws {OAuthError} `rate_limit_exceeded`
 */
export const countAccountForm = (services: PageServices, form: SubmittedForm): Promise<void> =>
  count(services, form, true);

/**
 * Counts a form with which a person ends what a thief holds, or proves who they are for that: for the session alone, so that nobody in another
 * one keeps them from it.
 * @throws {OAuthError} `rate_limit_exceeded`
 */
export const countEndingForm = (services: PageServices, form: SubmittedForm): Promise<void> =>
  count(services, form, false);

async function count(
  { database, clock, limits }: PageServices,
  { session: { accountId, hash }, origin }: SubmittedForm,
  isShared: boolean,
): Promise<void> {
  const now = clock();
  const about = { name: 'formAccount', origin, accountId } as const;
  const wait = await database.commit(function* counted(): Work<number> {
    const own = yield* take(`forms in ${hash}`, limits.formAccount, now, about);
    if (own > 0 || !isShared) return own;
    return yield* take(`forms ${accountId}`, ofAllAskers(limits.formAccount), now, about);
  });
  if (wait > 0) throw limited(wait);
}
