import { iso } from '../platform/clock.ts';
import type { Work } from '../platform/database/database.ts';
import { Instant, nullableField } from '../platform/http/operation.ts';
import { addressBucket, networkOf } from '../platform/validation/origin.ts';
import * as Type from '../platform/validation/type.ts';
import { newestSignIns, type RecordedSignIn } from './sign-in-store.ts';

/** The newest sign-in of each kind. */
export interface LastSignIns {
  readonly succeeded: RecordedSignIn | undefined;
  readonly failed: RecordedSignIn | undefined;
}

/** The newest sign-ins of an account by their type. */
export function lastSignIns(rows: readonly { readonly type: string; readonly signIn: RecordedSignIn }[]): LastSignIns {
  const newest = new Map(rows.map(({ type, signIn }) => [type, signIn]));
  return { succeeded: newest.get('sign_in.succeeded'), failed: newest.get('sign_in.failed') };
}

/** The last sign-in to an account, and the last one that was refused. */
export function* findLastSignIns(accountId: string): Work<LastSignIns> {
  return lastSignIns(yield* newestSignIns({ accountId }));
}

const signIn = {
  at: Instant,
  browser: nullableField(Type.String(), 'Null where it did not say.'),
  system: nullableField(Type.String(), 'Null where it did not say.'),
  network: nullableField(Type.String(), 'Where it came from, without the part that tells one home from the next.'),
  requestId: nullableField(Type.String(), 'The correlation ID of the request, for `tessera explain`.'),
};

/** The last sign-ins as operators see them: the shape of {@link lastSignInsView}. */
export const LastSignInsRecord = Type.Object(
  {
    succeeded: Type.Union([Type.Object(signIn, { title: 'LastSignIn' }), Type.Null()], {
      about: 'Null where the audit trail has none.',
    }),
    failed: Type.Union(
      [
        Type.Object(
          {
            ...signIn,
            reason: nullableField(Type.String(), 'Why it was refused, such as `unknown name or wrong password`.'),
          },
          { title: 'LastFailedSignIn' },
        ),
        Type.Null(),
      ],
      { about: 'Null where the audit trail has none.' },
    ),
  },
  { title: 'LastSignIns' },
);

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const signInView = ({ at, address, requestId, details }: RecordedSignIn) => ({
  at: iso(at),
  browser: textOf(details['browser']),
  system: textOf(details['system']),
  network: address === null ? null : networkOf(addressBucket(address)),
  requestId,
});

export const lastSignInsView = ({ succeeded, failed }: LastSignIns) => ({
  succeeded: succeeded === undefined ? null : signInView(succeeded),
  failed: failed === undefined ? null : { ...signInView(failed), reason: textOf(failed.details['reason']) },
});
