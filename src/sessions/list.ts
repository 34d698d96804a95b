import type { Account } from '../accounts/store.ts';
import { iso } from '../platform/clock.ts';
import type { Work } from '../platform/database/database.ts';
import { Id, Instant, nullableField } from '../platform/http/operation.ts';
import * as Type from '../platform/validation/type.ts';
import { IDLE_TIMEOUT, MAX_SESSIONS, type SessionServices } from './sessions.ts';
import { findSessionsWithApps, type Session } from './store.ts';

/** A session with the apps that hold tokens which they got in it. */
export interface ListedSession extends Session {
  readonly apps: readonly { readonly clientId: string; readonly name: string }[];
}

/** Whether a text can be the public name of a session. */
export const isSid = (text: string): boolean => /^[A-Za-z0-9_-]{16,64}$/.test(text);

/**
 * The sessions in which a person is signed in, the latest sign-in first.
 * @param part.except the `sid` of one to leave out
 */
export async function listSessions(
  { database, clock }: SessionServices,
  { id: accountId, generation }: Pick<Account, 'id' | 'generation'>,
  part: { readonly skip: number; readonly limit: number; readonly except?: string } = { skip: 0, limit: MAX_SESSIONS },
): Promise<ListedSession[]> {
  const now = clock();
  const { skip, limit, except = '' } = part;
  return database.read(function* list(): Work<ListedSession[]> {
    const live = { accountId, generation, now, idleSince: now - IDLE_TIMEOUT, except, skip, limit };
    const rows = Map.groupBy(yield* findSessionsWithApps(live), ({ session }) => session.sid);
    return [...rows.values()].flatMap(([first, ...others]) =>
      first === undefined ? [] : [{ ...first.session, apps: [first, ...others].flatMap(({ app }) => app ?? []) }],
    );
  });
}

/** A session as operators see it: the shape of {@link sessionView}. */
export const SessionRecord = Type.Object(
  {
    id: Type.String({ about: 'The session ID; `sid` in ID tokens.' }),
    browser: nullableField(Type.String(), 'Null where it did not say.'),
    system: nullableField(Type.String(), 'Null where it did not say.'),
    network: nullableField(
      Type.String(),
      'Where it signed in from, without the part that tells one home from the next.',
    ),
    apps: Type.Array(Type.Object({ clientId: Id, name: Type.String() }), {
      about: 'Apps with tokens that were issued in this session.',
    }),
    signedInAt: Instant,
    lastUsedAt: Instant,
    endsAt: Instant,
  },
  { title: 'Session' },
);

export const sessionView = ({ sid, browser, system, network, apps, ...session }: ListedSession) => ({
  id: sid,
  browser,
  system,
  network,
  apps,
  signedInAt: iso(session.authTime),
  lastUsedAt: iso(session.lastSeenAt),
  endsAt: iso(session.expiresAt),
});
