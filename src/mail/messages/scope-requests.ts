import type { MailContent } from '../content.ts';

/** A scope that an app is to have. */
interface AppScope {
  readonly clientId: string;
  /** Null for a scope of an API, whose name was typed. */
  readonly scope: string | null;
}

/** How many entries a message lists. */
const MOST_LISTED = 20;

const named = ({ clientId, scope }: AppScope): string =>
  `${scope === null ? 'a scope of an API' : `the scope ${scope}`} for the app ${clientId}`;

/** Each text once, the first ones, and how many there are beyond these. */
function listed(texts: readonly string[]): readonly string[] {
  const all = [...new Set(texts)];
  const more = all.length - MOST_LISTED;
  return more > 0 ? [...all.slice(0, MOST_LISTED), `And ${more} more.`] : all;
}

/** The messages about the scopes that developers ask for. */
export const scopeRequestMails = {
  /** To the operators who may decide. */
  asked: ({ requests, url }: { readonly requests: readonly AppScope[]; readonly url: string }): MailContent => ({
    subject: requests.length === 1 ? 'A developer asks for a scope' : 'Developers ask for scopes',
    paragraphs: [
      'An operator decides on these requests. Until then the apps go on with the scopes that they have.',
      ...listed(requests.map((request) => `Asked for: ${named(request)}.`)),
    ],
    action: { label: 'See the requests', url },
  }),

  /** To those who asked. */
  decided: ({
    decisions,
    url,
  }: {
    readonly decisions: readonly (AppScope & { readonly isApproved: boolean })[];
    readonly url: string;
  }): MailContent => ({
    subject: decisions.length === 1 ? 'Your request for a scope was decided' : 'Your requests for scopes were decided',
    paragraphs: [
      ...listed(decisions.map((one) => `${one.isApproved ? 'Approved' : 'Declined'}: ${named(one)}.`)),
      'The page of the app shows the reason.',
    ],
    action: { label: 'Open the app', url },
  }),
} as const;
