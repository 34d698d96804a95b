import assert from 'node:assert/strict';
import { timeline } from '../../src/migrations/timeline.ts';
import { admin, type JsonAnswer } from '../support/flow.ts';
import { ADMIN_KEY, type TestServer } from '../support/server.ts';

type Call = readonly [method: string, path: string, body: unknown];

/** Makes a call that must be refused with 400, naming the field first and then saying this. */
export async function refuses(
  server: TestServer,
  [method, path, body]: Call,
  field: string,
  message: RegExp,
): Promise<void> {
  const answer = await admin(server, method, path, body);
  const where = `${method} ${path} ${JSON.stringify(body)?.slice(0, 200)} → ${JSON.stringify(answer.body)}`;
  assert.equal(answer.status, 400, where);
  assert.equal(answer.body.error, 'invalid_request', where);
  assert.match(answer.body.error_description, new RegExp(`^${field}\\b`), where);
  assert.match(answer.body.error_description, message, where);
}

/** A call with a body as it stands. */
export async function sendRaw(
  { baseUrl }: TestServer,
  method: string,
  path: string,
  body: string | Buffer<ArrayBuffer>,
  contentType = 'application/json',
): Promise<JsonAnswer> {
  const response = await fetch(`${baseUrl}/api/v2/admin${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': contentType },
    body,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}

const BODIES: readonly (readonly [body: string | Buffer<ArrayBuffer>, status: number, contentType?: string])[] = [
  ['null', 400],
  ['[]', 400],
  ['"text"', 400],
  ['1', 400],
  ['{', 400],
  ['{"reason":"a","reason":"b"}', 400],
  ['{"__proto__":{"reason":"a"}}', 400],
  [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 400],
  ['{}', 415, 'text/plain'],
  ['reason=a', 415, 'application/x-www-form-urlencoded'],
  ['{}', 415, 'application/json; charset=utf-16'],
  [`{"reason":"${'x'.repeat(65 * 1024)}"}`, 413],
];

/** Sends every kind of body that no call may take. */
export async function refuseBadBodies(server: TestServer, call: string): Promise<void> {
  const [method = '', path = ''] = call.split(' ');
  for (const [body, status, contentType] of BODIES) {
    const answer = await sendRaw(server, method, path, body, contentType);
    const where = `${call} ${String(body).slice(0, 40)} ${contentType ?? ''} → ${JSON.stringify(answer.body)}`;
    assert.equal(answer.status, status, where);
    assert.equal(answer.body.error, 'invalid_request', where);
  }
}

const TYPES = { int: 'INTEGER', serial: 'INTEGER', bytes: 'BLOB', options: '', now: '0' };
const STATEMENTS = Object.values(timeline).flatMap(({ statements }) => statements(TYPES));

/** The columns of a table, read from the migration that makes it. */
export function columnNames(table: string): string[] {
  const definition = STATEMENTS.find((text) => text.startsWith(`CREATE TABLE ${table} (`)) ?? '';
  const names = [...definition.matchAll(/^ +([a-z_]+) /gm)].map((match) => match[1] ?? '');
  assert.ok(names.length >= 3, table);
  return names;
}
