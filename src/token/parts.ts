import type { Clock } from '../clock.ts';
import type { Limits } from '../config/limits.ts';
import type { Database } from '../database/database.ts';
import type { Ids } from '../identifiers/ids.ts';
import type { Keys } from '../keys/keys.ts';

/** What the token endpoint works with. */
export interface TokenParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly keys: Keys;
  readonly issuer: string;
  readonly limits: Limits;
}
