// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderMail } from './render.ts';

const HELPER = { host: 'id.example.com' };

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
    renderMail(
      {
        subject: text,
        paragraphs: [text, `A paragraph with ${text} in it.`],
        code: text,
        action: { label: text, url: 'https://id.example.com/recover?link=x' },
        footer: [text],
      },
      HELPER,
    );
  const plain = skeleton(rendered('Plain').html, 'Plain');
  assert.match(plain, /<h1.*<a .*<\/body>/s);
  for (const text of HOSTILE) assert.equal(skeleton(rendered(text).html, text), plain, text);
});

test('a message loads nothing, and its link stands in both forms', () => {
  const { html, text } = renderMail(
    {
      subject: 'Recover your account',
      paragraphs: ['Somebody asked for a new password.'],
      code: '123456',
      action: { label: 'Continue', url: 'https://id.example.com/recover?link=a&b=c' },
    },
    HELPER,
  );
  assert.doesNotMatch(html, /\b(src|srcset|background|data|poster)\s*=|url\(|@import|<(link|script|img|iframe)\b/i);
  assert.ok(html.includes('href="https://id.example.com/recover?link=a&amp;b=c"'));
  assert.match(text, /123 456\n\nContinue:\nhttps:\/\/id\.example\.com\/recover\?link=a&b=c\n\nNeed help\?/);
});

test('no character of a name changes the direction of a sentence, or adds a line to it', () => {
  const controls =
    '\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\u0000\u001b\u0085\r\n';
  for (const control of controls) {
    const text = `a passkey named ${control}“pukcaB”`;
    const url = 'https://id.example.com/x';
    const mail = renderMail(
      {
        subject: text,
        paragraphs: [text],
        code: text,
        action: { label: text, url },
        footer: [text],
      },
      HELPER,
    );
    // What the layout itself breaks into lines.
    for (const part of [mail.subject, mail.text, mail.html]) {
      assert.ok(!part.replaceAll('\n', '').includes(control), JSON.stringify(control));
      assert.ok(!part.includes(`named ${control}`), JSON.stringify(control));
    }
    assert.match(mail.text, /a passkey named {2}“pukcaB”/);
  }
});

test('a name that looks like an address does not become a link', () => {
  const names = ['evil.example', 'claim-prize.shop.example.com', 'www.evil.example', 'a_b.ev-il.example'];
  for (const name of names) {
    const sentence = `This is about your account ${name}.`;
    const { html, text } = renderMail({ subject: name, paragraphs: [sentence], footer: [`Not ${name}?`] }, HELPER);
    const [, body = ''] = html.split('</title>');
    assert.ok(!body.includes(name), name);
    assert.ok(body.replaceAll(/<\/?span>/g, '').includes(sentence), 'what is copied is the name');
    assert.ok(text.includes(`account “${name}”.`) && text.includes(`Not “${name}”?`), text);
  }
  const { html, text } = renderMail(
    {
      subject: 'Subject',
      paragraphs: ['Ada at ada@example.com, 1 March 2026, 12:00 UTC.', 'A passkey named https://evil.example/x'],
      action: { label: 'Go', url: 'https://id.example.com/x?token=a.b' },
    },
    HELPER,
  );
  assert.match(text, /Ada at ada@example\.com, 1 March 2026/);
  assert.ok(!html.includes('https://evil') && !html.includes('evil.example'));
  assert.equal(html.split('https://id.example.com/x?token=a.b').length, 1 + 3, 'the link of the message is as it was');
});

test('a message names the language of its texts, and is laid out in its direction', () => {
  const content = { subject: 'Subject', paragraphs: ['Text.'], facts: [['When', '12:00 UTC']] } as const;
  assert.match(renderMail(content, HELPER).html, /<html lang="en" dir="ltr">/, 'an earlier version named no language');
  assert.match(renderMail({ ...content, language: 'pt-BR' }, HELPER).html, /<html lang="pt-BR" dir="ltr">/);
  const { html } = renderMail({ ...content, language: 'ar' }, HELPER);
  assert.match(html, /<html lang="ar" dir="rtl">/);
  assert.match(html, /padding: 2px 0 2px 16px[^>]*>When</, 'the gap is between the name of a fact and its value');
});

test('what is known of an act stands before the paragraph that says what to do', () => {
  const facts = [['When', '12:00 UTC']] as const;
  const { text, html } = renderMail(
    {
      subject: 'Subject',
      paragraphs: ['It happened.', 'Do this.'],
      facts,
      code: '123456',
    },
    HELPER,
  );
  assert.equal(
    text,
    'It happened.\n\nWhen: 12:00 UTC\n\nDo this.\n\n    123 456\n\nNeed help? Contact the operator of id.example.com.\n',
  );
  assert.match(html, /It happened\..*When.*12:00 UTC.*Do this\..*123 456/s);
});

test('a message names whom to ask for help: the contact, or the operator of its host', () => {
  const content = { subject: 'Subject', paragraphs: ['Text.'] };
  for (const [contact, named] of [
    ['help@acme.example', ' with id.example.com? Contact help@acme.example'],
    ['https://acme.example/help', ' with id.example.com? Contact https://acme.example/help'],
    [undefined, '? Contact the operator of id.example.com'],
  ] as const) {
    const { text, html } = renderMail(content, { ...HELPER, contact });
    assert.equal(text, `Text.\n\nNeed help${named}.\n`);
    assert.ok(html.includes(`>Need help${named}.</p>`), 'mail programs make a link of it');
  }
});
