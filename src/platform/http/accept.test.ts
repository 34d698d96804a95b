// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FastifyRequest } from 'fastify';
import { namesHtml, wantsHtml } from './accept.ts';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8';

for (const [accept, wants, names] of [
  [undefined, true, false],
  ['*/*', true, false],
  ['', true, false],
  [BROWSER, true, true],
  ['text/html', true, true],
  ['TEXT/HTML;level=1', true, true],
  ['text/*', true, false],
  ['text/html, application/json', true, true],
  ['application/json', false, false],
  ['application/json, text/html;q=0.5', false, false],
  ['application/json;q=0.5, text/html;q=0.6', true, true],
  ['application/json, text/plain, */*', false, false],
  ['text/html;q=0', true, false],
  ['text/html;q=0, */*', false, false],
  ['text/html;q=x', true, false],
] as const) {
  test(`RFC 9110 §12.5.1: Accept: ${accept}`, () => {
    const request = { headers: { ...(accept !== undefined && { accept }) } } as FastifyRequest;
    assert.deepEqual([wantsHtml(request), namesHtml(request)], [wants, names]);
  });
}
