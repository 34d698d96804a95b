import { type Keys, StaleKeys } from '../../keys/keys.ts';
import { OAuthError } from '../../platform/oauth-error.ts';

/**
 * Runs an attempt, and runs it again with reloaded keys where `requireVersion` found a newer key set. An error that the
 * attempt returns is thrown here: a unit of work returns it, instead of throwing, so that what it recorded is committed.
 */
export async function withCurrentKeys<T>(keys: Keys, attempt: () => Promise<T | OAuthError>): Promise<T> {
  for (;;) {
    try {
      const result = await attempt();
      if (result instanceof OAuthError) throw result;
      return result;
    } catch (error) {
      if (!(error instanceof StaleKeys)) throw error;
      await keys.refresh(error.version);
    }
  }
}
