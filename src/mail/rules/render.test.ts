import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderMail } from './render.ts';

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' style='display:none",
  '&lt;b&gt;',
  '-->',
];

/** The tags of a document with their attributes: its structure without its texts. */
const skeleton = (html: string, text: string): string =>
  (html.match(/<[^>]*>/g) ?? []).join('').replaceAll(text, 'TEXT');

test('HB-05: no text of a person or an app changes the document of a message', () => {
  const rendered = (text: string) =>
    renderMail({
      subject: text,
      paragraphs: [text, `A paragraph with ${text} in it.`],
      code: text,
      action: { label: text, url: 'https://id.example.com/recover?link=x' },
      footer: [text],
    });
  const plain = skeleton(rendered('Plain').html, 'Plain');
  assert.match(plain, /<h1.*<a .*<\/body>/s);
  for (const text of HOSTILE) assert.equal(skeleton(rendered(text).html, text), plain, text);
});

test('a message loads nothing, and its link stands in both forms', () => {
  const { html, text } = renderMail({
    subject: 'Recover your account',
    paragraphs: ['Somebody asked for a new password.'],
    code: '123456',
    action: { label: 'Continue', url: 'https://id.example.com/recover?link=a&b=c' },
  });
  assert.doesNotMatch(html, /\b(src|srcset|background|data|poster)\s*=|url\(|@import|<(link|script|img|iframe)\b/i);
  assert.ok(html.includes('href="https://id.example.com/recover?link=a&amp;b=c"'));
  assert.match(text, /123 456\n\nContinue:\nhttps:\/\/id\.example\.com\/recover\?link=a&b=c\n$/);
});
