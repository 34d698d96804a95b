import type { SecuritySection } from './section.ts';

/** The way to the page with what happened in the account. */
export const activitySection: SecuritySection = {
  name: 'activity',
  row({ site: { messages, path } }) {
    const text = messages.activity;
    return { title: text.title, state: text.sectionLead, page: path('/account/activity') };
  },
  routes: () => {},
};
