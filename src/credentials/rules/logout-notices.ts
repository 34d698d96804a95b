/** A client that a person signed in to, in one session, and that has a `backchannel_logout_uri`. */
export interface NotifiedClient {
  readonly clientId: string;
  readonly sid: string;
  /** When the client was last signed in to in this session, in milliseconds since the epoch. */
  readonly signedInAt: number;
  /** `backchannel_logout_session_required`: a notice names the session also where every session ends. */
  readonly sessionRequired: boolean;
}

/** A notice to a client that this session has ended, or with null every session of the person there. */
export interface LogoutNotice {
  readonly clientId: string;
  readonly sid: string | null;
}

/** How many sessions of a person notices to one client name: as many as a person can have at a time. */
export const MAX_NAMED_SESSIONS = 64;

/**
 * The notices of the end of one session. Each names the session, for the person may be signed in to the client in another one
 * (OpenID Connect Back-Channel Logout 1.0 §2.4).
 */
export const sessionNotices = (clients: readonly NotifiedClient[]): readonly LogoutNotice[] =>
  distinct(clients.map(({ clientId, sid }) => ({ clientId, sid })));

/**
 * The notices of the end of every session of a person: one for each session, because many clients find a session only by its `sid`;
 * one without a `sid` where the client registered that it needs none. A person can sign in again and again, so only the latest
 * sessions are named, and the earlier ones are covered by one notice without a `sid`.
 */
export function accountNotices(clients: readonly NotifiedClient[]): readonly LogoutNotice[] {
  const latestFirst = [...clients].sort((a, b) => b.signedInAt - a.signedInAt);
  const ofClients = Map.groupBy(latestFirst, ({ clientId }) => clientId);
  return [...ofClients].flatMap(([clientId, sessions]) => {
    const named = new Set(sessions.filter(({ sessionRequired }) => sessionRequired).map(({ sid }) => sid));
    const sids: (string | null)[] = [...named].slice(0, MAX_NAMED_SESSIONS);
    if (sids.length === 0 || sids.length < named.size) sids.push(null);
    return sids.map((sid) => ({ clientId, sid }));
  });
}

function distinct(notices: readonly LogoutNotice[]): readonly LogoutNotice[] {
  const known = new Map(notices.map((notice) => [`${notice.clientId} ${notice.sid ?? ''}`, notice]));
  return [...known.values()];
}
