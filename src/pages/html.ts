/** Markup. Every other value is text, which {@link html} escapes. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** A value that a template may contain. */
export type HtmlPart = Html | string | number | undefined | null | false | readonly HtmlPart[];

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function render(value: HtmlPart): string {
  if (value instanceof Html) return value.text;
  if (value === undefined || value === null || value === false) return '';
  if (typeof value === 'string' || typeof value === 'number') {
    return String(value).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
  }
  return value.map(render).join('');
}

/** The same text without its markup, for the title of a page, which can have none. */
export const withoutMarkup = (value: HtmlPart): Html => new Html(render(value).replace(/<[^>]*>/g, ''));

/**
 * Builds HTML from a template. Values are escaped for text and for quoted attributes; lists are joined; `undefined`, `null` and
 * `false` are left out. Attributes must be quoted, and no value may be in a script, a style or an event handler.
 */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlPart[]): Html {
  let text = strings[0] ?? '';
  for (const [index, value] of values.entries()) text += render(value) + (strings[index + 1] ?? '');
  return new Html(text);
}
