/** An app that was signed in to, and in which session. */
export interface NotifiedClient {
  readonly clientId: string;
  readonly sid: string;
  /** Whether it can do nothing with a notice that does not name the session. */
  readonly sessionRequired: boolean;
}

/** What an app is to be told: that this session has ended, or with null every session of the person there. */
export interface Notice {
  readonly clientId: string;
  readonly sid: string | null;
}

/**
 * Who is told when one session has ended: every app that was signed in to there, with the name of the session, for the person
 * may be signed in elsewhere (OpenID Connect Back-Channel Logout 1.0 §2.4).
 */
export const noticesOfSession = (listeners: readonly NotifiedClient[]): readonly Notice[] =>
  distinct(listeners.map(({ clientId, sid }) => ({ clientId, sid })));

/**
 * Who is told when all has ended: each app once, which without a session means all of the person's; one that needs the
 * session to be named is told of each.
 */
export const noticesOfAll = (listeners: readonly NotifiedClient[]): readonly Notice[] =>
  distinct(listeners.map(({ clientId, sid, sessionRequired }) => ({ clientId, sid: sessionRequired ? sid : null })));

function distinct(notices: readonly Notice[]): readonly Notice[] {
  const known = new Map(notices.map((notice) => [`${notice.clientId} ${notice.sid ?? ''}`, notice]));
  return [...known.values()];
}
