import { take } from '../../limits/limits.ts';
import { limited } from '../../platform/failure.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import type { PageServices } from './routes.ts';

/** Counts a form of a signed-in person against the limit of their account. @throws {OAuthError} `rate_limit_exceeded` */
export async function countAccountForm(
  { database, clock, limits }: PageServices,
  accountId: string,
  origin: Origin,
): Promise<void> {
  const now = clock();
  const about = { name: 'formAccount', origin, accountId } as const;
  const wait = await database.commit(() => take(`forms ${accountId}`, limits.formAccount, now, about));
  if (wait > 0) throw limited(wait);
}
