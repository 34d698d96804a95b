// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { html } from './html.ts';
import { document } from './layout.ts';
import { en } from './messages.ts';

test('a page names the language of its texts, and is laid out in its direction', () => {
  for (const [language, direction] of [
    ['en', 'ltr'],
    ['pt-BR', 'ltr'],
    ['ar', 'rtl'],
  ] as const) {
    const site = { path: (path: string) => path, messages: { ...en, language }, host: 'id.example.com' };
    const page = document(site, { title: 'Title', layout: 'narrow', body: html`<p>Text.</p>` });
    assert.ok(page.includes(`<html lang="${language}" dir="${direction}">`), page);
  }
});
