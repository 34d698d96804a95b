import { type ListKind, listFormat } from '../platform/date-text.ts';
import type { HtmlPart } from './html.ts';
import type { Messages } from './messages.ts';

/** Values, which may be markup, as a list of the language of the page: within a sentence `a, b and c`, else `a, b, c`. */
export function joinList(
  values: readonly HtmlPart[],
  { language }: Pick<Messages, 'language'>,
  kind: ListKind = 'sentence',
): HtmlPart {
  // The places of the values stand for them: they may be markup.
  const parts = listFormat(kind, language).formatToParts(values.map((_, index) => String(index)));
  return parts.map(({ type, value }) => (type === 'element' ? values[Number(value)] : value));
}
