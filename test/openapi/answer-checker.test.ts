// store: SQLite
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openApiDocument } from '../../src/openapi/document.ts';
import { startRouted } from '../security/routes.ts';
import { type Answered, answerCheck, type Check } from '../support/answer-checker.ts';

let check: Check;
before(async () => {
  const server = await startRouted();
  check = answerCheck(openApiDocument(server.described, { issuer: server.baseUrl }));
  await server.close();
});

const json = (operationId: string, status: number, body: unknown, more: Partial<Answered> = {}): Answered => ({
  operationId,
  method: 'GET',
  status,
  type: 'application/json',
  text: JSON.stringify(body),
  ...more,
});
const refusal = (error: string) => ({ error, error_description: 'x' });
const organization = {
  id: '1',
  name: 'engines',
  domain: 'engines.example',
  requireSecondFactor: false,
  createdAt: '2026-03-01T12:00:00.250Z',
};

const CASES: readonly (readonly [about: string, answer: Answered, problem: RegExp | undefined])[] = [
  ['what is documented', json('createOrganization', 201, organization), undefined],
  ['a refusal that is documented', json('createOrganization', 409, refusal('conflict')), undefined],
  ['a refusal that every route has', json('createOrganization', 503, refusal('temporarily_unavailable')), undefined],
  ['another status', json('createOrganization', 200, organization), /status 200 is not documented/],
  ['another code', json('createOrganization', 409, refusal('not_found')), /error must be equal to one of/],
  ['a refusal in another shape', json('createOrganization', 409, { message: 'no' }), /required|additional/],
  [
    'a refusal with a field more',
    json('createOrganization', 409, { ...refusal('conflict'), stack: 'x' }),
    /additional.*stack/,
  ],
  ['a field more', json('createOrganization', 201, { ...organization, secret: 'x' }), /additional.*secret/],
  ['a field less', json('createOrganization', 201, { ...organization, domain: undefined }), /required.*domain/],
  ['another type', json('createOrganization', 201, { ...organization, id: 1 }), /\/id must be string/],
  ['another format', json('createOrganization', 201, { ...organization, createdAt: 'today' }), /createdAt must match/],
  ['no body', json('createOrganization', 201, {}, { text: '', type: undefined }), /has no body/],
  ['another content type', json('isLive', 200, {}, { type: 'text/plain' }), /as text\/plain is not documented/],
  ['a body where there is none', json('deleteUser', 204, {}), /as application\/json is not documented/],
  ['nothing where there is none', json('deleteUser', 204, {}, { text: '', type: undefined }), undefined],
  ['the answer to HEAD', json('isLive', 200, {}, { method: 'HEAD', text: '' }), undefined],
  ['a redirect', json('authorize', 302, {}, { text: '', type: undefined }), undefined],
  ['a page', json('authorize', 400, {}, { type: 'text/html', text: '<p>' }), undefined],
  ['a page where there are none', json('readUserInfo', 401, {}, { type: 'text/html', text: '<p>' }), /as text\/html/],
  [
    'something inside of a list',
    json('listOrganizations', 200, { items: [{ ...organization, members: [] }], nextCursor: null }),
    /\/items\/0 must NOT have additional/,
  ],
];

for (const [about, answer, problem] of CASES) {
  test(`an answer is held against its schema: ${about}`, () => {
    if (problem === undefined) assert.equal(check(answer), undefined);
    else assert.match(check(answer) ?? 'nothing was noticed', problem);
  });
}

test('the test during which a server answers something else fails, and no other one', async () => {
  const file = fileURLToPath(new URL('wrong-answer.ts', import.meta.url));
  // A run of its own, which knows nothing of the one that it is part of.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(process.execPath, ['--test', '--test-reporter=tap', file], { env });
  const output = await text(child.stdout);
  assert.match(output, /^ *not ok \d+ - one that looks at nothing$/m, output);
  assert.match(output, /GET \/api\/v2\/admin\/users\/:id: 200: .*passwordHash/, output);
  assert.match(output, /^ *ok \d+ - another one$/m, output);
});
