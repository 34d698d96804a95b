/** A named fact, such as `When` and a time. */
export type MailFact = readonly [name: string, value: string];

/** What a message says. Plain text, without markup. All its words come from `messages.ts`. */
export interface MailContent {
  /** The language of its texts, as a tag (BCP 47). An earlier version, which had English alone, did not name it. */
  readonly language?: string;
  readonly subject: string;
  /** In order. Where there are facts, these stand before the last one, which says what to do. */
  readonly paragraphs: readonly string[];
  /** What is known of the act, such as when and where, each with its name. */
  readonly facts?: readonly MailFact[];
  /** A code to type elsewhere, shown large. */
  readonly code?: string;
  /** The one link of the message. */
  readonly action?: { readonly label: string; readonly url: string };
  /** After the action, such as what to do if it was not you. */
  readonly footer?: readonly string[];
  /** Replaces action and footer where the link is dead before the message is sent. Without it, the message is not sent then. */
  readonly withoutLink?: readonly string[];
}

/** Six digits are read and typed in two groups; a page that takes a code ignores the space. */
export const spaced = (code: string): string => code.replace(/^(\d{3})(\d{3})$/, '$1 $2');

/** The paragraphs before and after the facts. */
export const aroundFacts = ({ paragraphs, facts = [] }: Pick<MailContent, 'paragraphs' | 'facts'>) => {
  const last = facts.length === 0 ? paragraphs.length : paragraphs.length - 1;
  return { before: paragraphs.slice(0, last), after: paragraphs.slice(last) };
};
