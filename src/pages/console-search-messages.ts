import type { HtmlPart } from './html.ts';

/** The texts of the console's search over everything. */
export const consoleSearchTexts = {
  title: 'Search',
  keys: 'Ctrl K',
  field: 'Name, address, ID or correlation ID',
  hint: 'Of people, the beginning of the username or address; of everything else, a part of the name.',
  submit: 'Search',
  kinds: {
    pages: 'Pages',
    people: 'People',
    apps: 'Apps',
    groups: 'Groups',
    organizations: 'Organizations',
    keys: 'Admin keys',
    upstreams: 'Sign-in providers',
  },
  found: (count: number): string => (count === 1 ? '1 result' : `${count} results`),
  all: 'Every page for your role.',
  explain: (id: HtmlPart): HtmlPart => ['Explain the request ', id],
} as const;
