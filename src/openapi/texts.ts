import { type Html, html } from '../pages/html.ts';
import type { Schema } from './schemas.ts';

/** Text of the document, where what stands between backticks is code. */
export const prose = (text: string): Html =>
  html`${text.split('`').map((part, index) => (index % 2 === 0 ? part : html`<code>${part}</code>`))}`;

/** Where the fields of a named object are explained, on the same page. */
export const objectId = (name: string): string => `object-${name}`;
export const nameIn = ($ref: unknown): string => String($ref).split('/').at(-1) ?? '';

const list = (parts: readonly Html[], between: string): Html =>
  html`${parts.map((part, index) => html`${index > 0 && between}${part}`)}`;

/** What kind of value a schema asks for, in few words. */
export function kindOf(schema: Schema): Html {
  const { $ref, type, enum: values, items, anyOf, format, description } = schema;
  if (typeof $ref === 'string') return html`<a href="#${objectId(nameIn($ref))}">${nameIn($ref)}</a>`;
  if (Array.isArray(anyOf)) return list(anyOf.map(kindOf), ' or ');
  // A description names the values itself.
  if (Array.isArray(values) && description === undefined) {
    return list(
      values.map((value) => (value === null ? html`null` : html`<code>${String(value)}</code>`)),
      ', ',
    );
  }
  if (type === 'array') return html`list of ${items === undefined ? 'anything' : kindOf(items as Schema)}`;
  if (Array.isArray(type)) return html`${type.join(' or ')}`;
  return html`${String(typeof format === 'string' ? format : (type ?? 'string'))}`;
}
