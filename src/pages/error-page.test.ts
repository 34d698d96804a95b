// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fastify from 'fastify';
import { Failure, limited, unavailable } from '../platform/failure.ts';
import { OAuthError } from '../platform/oauth-error.ts';
import { pageErrors } from './error-page.ts';
import { en } from './messages.ts';

const site = { path: (path: string) => path, messages: en, host: 'id.example.com' };

/** The page that a browser gets for an error. */
async function pageOf(error: Error) {
  const app = fastify();
  app.decorateRequest('refusal', null);
  app.setErrorHandler(pageErrors(site));
  app.get('/', async () => {
    throw error;
  });
  const { statusCode, headers, body } = await app.inject({ url: '/', headers: { accept: 'text/html' } });
  return { status: statusCode, headers, text: body };
}

test('Retry-After stands on the page in words', async () => {
  for (const [seconds, words] of [
    [1, 'Try again in 1 second.'],
    [45, 'Try again in 45 seconds.'],
    [119, 'Try again in 119 seconds.'],
    [121, 'Try again in 3 minutes.'],
    [3600, 'Try again in 60 minutes.'],
    [7201, 'Try again in 3 hours.'],
  ] as const) {
    const { status, headers, text } = await pageOf(limited(seconds));
    assert.deepEqual([status, headers['retry-after']], [429, String(seconds)]);
    assert.ok(text.includes(words), words);
  }
  const { status, headers, text } = await pageOf(unavailable());
  assert.equal(status, 503);
  assert.match(text, new RegExp(`Try again in ${headers['retry-after']} seconds?\\.`));
});

test('a status without a text has that of its class', async () => {
  assert.match((await pageOf(new OAuthError(410, 'not_found', 'x'))).text, /This request is not valid/);
  assert.match((await pageOf(new OAuthError(501, 'server_error', 'x'))).text, /on our side/);
  assert.match((await pageOf(new Error('inside'))).text, /on our side/);
  assert.doesNotMatch((await pageOf(new Error('inside'))).text, /inside/);
});

test('a session that ended is said to have, and not that a form came from elsewhere', async () => {
  const { status, text } = await pageOf(new Failure('session ended', 'x'));
  assert.equal(status, 403);
  assert.match(text, /You are signed out/);
  assert.match(text, /href="\/account"/);
  assert.match((await pageOf(new OAuthError(403, 'access_denied', 'x'))).text, /another site/);
});

test('an error page leads from its correlation id to the reason', async () => {
  const { text } = await pageOf(new OAuthError(400, 'invalid_request', 'x'));
  const [, id = ''] = /Correlation ID<\/dt><dd><span class="copyable"><bdi><code>([^<]+)</.exec(text) ?? [];
  assert.notEqual(id, '');
  assert.ok(text.includes(`<code>tessera explain ${id}</code>`), text);
  assert.ok(text.includes(`data-copy="tessera explain ${id}"`), text);
});
