import type { ClientView } from './records.ts';

const NAMES = ['redirectUris', 'postLogoutRedirectUris', 'scopes'] as const;

/** How each list is given whole, and how what it has is kept. */
const OPTIONS = {
  redirectUris: { replaces: '--redirect-uri', keeps: 'add with --add-redirect-uri instead' },
  postLogoutRedirectUris: {
    replaces: '--post-logout-redirect-uri',
    keeps: 'add with --add-post-logout-redirect-uri instead',
  },
  scopes: { replaces: '--scope', keeps: 'repeat the option for each of them' },
} as const;

/** Whether a change gives one of the lists whole. */
export const replacesList = (change: object): boolean => NAMES.some((name) => name in change);

/** What a change took out of the lists of an app, and how to keep it. */
export const describeReplaced = (before: ClientView, after: ClientView): readonly string[] =>
  NAMES.flatMap((name) => {
    const now = after[name];
    const gone = now === null ? [] : (before[name] ?? []).filter((one) => !now.includes(one));
    if (gone.length === 0) return [];
    const { replaces, keeps } = OPTIONS[name];
    return [
      `Removed from ${name}: ${gone.join(', ')}. ${replaces} replaces the whole list; to keep the others, ${keeps}.`,
    ];
  });
