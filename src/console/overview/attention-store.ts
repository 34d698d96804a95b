import { endingAdminKeys } from '../../admin-keys/store.ts';
import { waitingRequestRows } from '../../clients/scope-request-store.ts';
import { constant } from '../../platform/database/columns.ts';
import { many } from '../../platform/database/statement.ts';

/** A key that ends soon, or a scope request that waits. */
export interface Attention {
  readonly kind: 'key' | 'request';
  readonly id: string;
  readonly name: string;
  /** When the key ends, or since when the request waits. */
  readonly at: number;
}

/** What operators have to do something about, the most urgent of each kind first. */
export const listAttention = many(
  (db, p: { now: number; before: number; mostKeys: number; mostRequests: number }) => {
    const keys = endingAdminKeys(db, { now: p.now, before: p.before, limit: p.mostKeys });
    const requests = waitingRequestRows(db, { limit: p.mostRequests });
    return db
      .selectFrom(keys.as('key'))
      .select([constant<Attention['kind']>('key').as('kind'), 'id', 'name', 'at'])
      .unionAll(
        db
          .selectFrom(requests.as('request'))
          .select((eb) => [
            constant<Attention['kind']>('request').as('kind'),
            ...(['id', 'name'] as const),
            eb.ref('at').$castTo<number | null>().as('at'),
          ]),
      );
  },
  ({ at, ...row }): Attention => ({ ...row, at: at ?? 0 }),
);
