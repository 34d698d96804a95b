/** A client that a person signed in to, in one session, and that has a `backchannel_logout_uri`. */
export interface NotifiedClient {
  readonly clientId: string;
  readonly sid: string;
  /** `backchannel_logout_session_required`: the client rejects a notice that does not name the session. */
  readonly sessionRequired: boolean;
}

/** A notice to a client that this session has ended, or with null every session of the person there. */
export interface LogoutNotice {
  readonly clientId: string;
  readonly sid: string | null;
}

/**
 * The notices of the end of one session. Each names the session, for the person may be signed in to the client in another one
 * (OpenID Connect Back-Channel Logout 1.0 §2.4).
 */
export const sessionNotices = (clients: readonly NotifiedClient[]): readonly LogoutNotice[] =>
  distinct(clients.map(({ clientId, sid }) => ({ clientId, sid })));

/**
 * The notices of the end of every session of a person: one for each client, without a `sid`; one for each session where the
 * client requires it.
 */
export const accountNotices = (clients: readonly NotifiedClient[]): readonly LogoutNotice[] =>
  distinct(clients.map(({ clientId, sid, sessionRequired }) => ({ clientId, sid: sessionRequired ? sid : null })));

function distinct(notices: readonly LogoutNotice[]): readonly LogoutNotice[] {
  const known = new Map(notices.map((notice) => [`${notice.clientId} ${notice.sid ?? ''}`, notice]));
  return [...known.values()];
}
