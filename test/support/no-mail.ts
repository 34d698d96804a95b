import type { SecurityNoticeServices } from '../../src/account-actions/notices/notices.ts';

/** What notices are sent with on a server without mail, for tests of functions rather than of a server. */
export const NO_MAIL: SecurityNoticeServices = {
  mail: {
    available: false,
    *enqueue() {
      // Nothing is sent.
    },
    *takeBack() {
      yield* [];
      return [];
    },
  },
  sealer: undefined as never,
  issuer: 'http://localhost',
};
