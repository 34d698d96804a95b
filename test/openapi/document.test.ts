// store: SQLite
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { type OpenApiDocument, type OperationObject, openApiDocument } from '../../src/openapi/document.ts';
import type { Schema } from '../../src/openapi/schemas.ts';
import { startRouted } from '../security/routes.ts';
import { type Call, callExample, examplesOf, fixture, send } from './examples.ts';

const server = await startRouted({ TESSERA_MAILBOX: 'on', TESSERA_REGISTRATION: 'open' });
after(() => server.close());
const document = (await (await fetch(`${server.baseUrl}/openapi.json`)).json()) as OpenApiDocument;
const made = await fixture(server);

const operations = (): [name: string, operation: OperationObject][] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, OperationObject] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );

/** The routes that are no part of the API, and why. */
const NOT_API: readonly (readonly [RegExp, string])[] = [
  [
    /^\/(login(\/.*)?|signup|signup\/verify|verify|undo-address-change(\/passkey)?|secure-account|invitation|logout|continue|consent|no-access|device|account(\/.*)?|recover(\/.*)?|recovery-codes|setup(\/done)?|oidc\/logout\/confirm)$/,
    'a page, or the form of one',
  ],
  [/^\/upstreams\/:name\/backchannel-logout$/, 'for other providers, as OpenID Connect Back-Channel Logout defines it'],
  [/^\/(playground(\/.*)?)?$/, 'a page for people, or the form of one'],
  [/^\/console(\/.*)?$/, 'a page for operators, or the form of one'],
  [/^\/mailbox(\/.*)?$/, 'a page for developers, on their own machines'],
  [/^\/assets\//, 'a file of the pages'],
  [/^\/avatars\//, 'an image, whose address is in `picture`'],
  [/^\/app-pictures\//, 'an image of the pages'],
  [/^\/health\/seen$/, 'for `tessera doctor` only: 404 for everyone else'],
  [/^\/\.well-known\/change-password$/, 'for password managers: the way to a page'],
  [/^\/openapi\.json$/, 'the document itself'],
  [/^\/api(\/[a-z-]+)?$/, 'the same for people'],
];

describe('the API document', () => {
  test('it is an OpenAPI 3.1 document', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document) as never);
    assert.ok(valid, JSON.stringify(errors));
    assert.equal(document.openapi, '3.1.1');
    assert.deepEqual(document.servers, [{ url: server.baseUrl }]);
  });

  test('it is public, readable from any page, and cacheable', async () => {
    const { headers } = await fetch(`${server.baseUrl}/openapi.json`, { headers: { origin: 'https://docs.example' } });
    assert.equal(headers.get('access-control-allow-origin'), '*');
    assert.match(headers.get('cache-control') ?? '', /^public, max-age=\d+$/);
    assert.match(headers.get('content-type') ?? '', /^application\/json\b/);
  });

  test('every route is in it, or is no part of the API for a reason', () => {
    const known = new Set(operations().map(([name]) => name));
    const left = server.routes
      .map(({ method, url }) => ({ method: method === 'HEAD' ? 'GET' : method, url }))
      .filter(({ method, url }) => !known.has(`${method} ${url.replaceAll(/:(\w+)/g, '{$1}')}`));
    for (const { method, url } of left) {
      assert.ok(
        NOT_API.some(([pattern]) => pattern.test(url)),
        `${method} ${url} says nothing of itself: give it a schema with an operationId`,
      );
    }
    for (const [pattern] of NOT_API)
      assert.ok(
        left.some(({ url }) => pattern.test(url)),
        `${pattern} is not needed`,
      );
    assert.ok(known.size > 35);
  });

  test('every operation has a name of its own, words, examples and answers', () => {
    const ids = operations().map(([, { operationId }]) => operationId);
    assert.equal(new Set(ids).size, ids.length);
    const areas = document.tags.map(({ name }) => name);
    for (const [name, { operationId, tags, summary, responses, parameters = [] }] of operations()) {
      assert.match(operationId, /^[a-z][A-Za-z]+$/, name);
      assert.ok(tags.length === 1 && tags.every((tag) => areas.includes(tag)), name);
      assert.match(summary, /^[A-Z].*[^.]$/, name);
      assert.ok(examplesOf(server.described, operationId).length > 0, `${name} has no example`);
      for (const status of ['400', '414', '500', '503']) assert.ok(status in responses, `${name} ${status}`);
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map((parameter) => parameter.name);
      assert.deepEqual(
        inPath,
        [...name.matchAll(/\{(\w+)\}/g)].map(([, parameter]) => parameter),
        name,
      );
    }
    const withoutTag = areas.filter((area) => !operations().some(([, { tags }]) => tags.includes(area)));
    assert.deepEqual(withoutTag, []);
  });

  test('below a base URL with a path, the server is that and the paths begin behind it', () => {
    const issuer = 'https://example.com/auth';
    const below = server.described.map((route) => ({ ...route, url: `/auth${route.url}` }));
    const moved = openApiDocument(below, { issuer });
    assert.deepEqual(moved.servers, [{ url: issuer }]);
    assert.deepEqual(Object.keys(moved.paths), Object.keys(document.paths));
  });
});

describe('what is documented is what is served', () => {
  test('every example of a request is answered as its example says', async () => {
    for (const { schema, method, url } of server.described) {
      for (const example of schema.examples) {
        const call = await callExample(made, { method, url, schema }, example);
        const answer = await send(server, call);
        const name = `${schema.operationId}, ${example.summary}: ${answer.status} ${answer.text.slice(0, 500)}`;
        assert.equal(answer.status, example.status, name);
        if (example.answer === undefined) continue;
        // A refusal holds nothing that varies: it is compared to the letter.
        if (example.status >= 400) assert.deepEqual(JSON.parse(answer.text), example.answer, name);
        assert.deepEqual(
          shape(JSON.parse(answer.text), example.answer),
          shape(example.answer, JSON.parse(answer.text)),
          name,
        );
      }
    }
  });

  test('a field that is called required is demanded', async () => {
    let tried = 0;
    for (const route of server.described) {
      for (const example of route.schema.examples.filter(({ status }) => status < 300)) {
        for (const field of requiredOf(route.schema.body, example.body ?? {})) {
          const { [field]: _, ...rest } = example.body ?? {};
          const answer = await send(server, await callExample(made, route, { ...example, body: rest }));
          assert.equal(
            answer.status,
            400,
            `${route.schema.operationId} without ${field}: ${answer.text.slice(0, 300)}`,
          );
          // RFC 7591 §3.2.2: the metadata of apps has errors of its own.
          const ofMetadata = ['invalid_redirect_uri', 'invalid_client_metadata'];
          const errors = route.schema.area === 'registration' ? ofMetadata : ['invalid_request'];
          assert.ok(errors.includes(JSON.parse(answer.text).error), answer.text);
          tried++;
        }
      }
    }
    assert.ok(tried > 8);
  });

  test('a body that is documented as closed refuses other fields, and every wrong type of a field is refused', async () => {
    let tried = 0;
    for (const route of server.described.filter(
      ({ schema }) => schema.caller === 'admin key' && isObject(schema.body),
    )) {
      const example = route.schema.examples[0];
      assert.ok(example !== undefined);
      const { properties } = route.schema.body as { properties: Record<string, unknown> };
      for (const body of [
        { ...example.body, unheardOf: 1 },
        ...Object.keys(properties).map((field) => ({ ...example.body, [field]: -0.5 })),
      ]) {
        // The ids are unknown: the body is validated first.
        const call: Call = await callExample({ ...made, fresh: false }, route, { ...example, body });
        const answer = await send(server, call);
        assert.equal(answer.status, 400, `${route.schema.operationId} ${JSON.stringify(body)}: ${answer.text}`);
        tried++;
      }
    }
    assert.ok(tried > 60);
  });

  test('a challenge, a wait and a place to go are there where they are documented', () => {
    for (const [name, { responses }] of operations()) {
      const redirect = responses['302'] ?? responses['303'];
      if (redirect !== undefined) assert.ok('headers' in redirect && redirect.headers?.['location'], name);
      for (const status of ['401', '429', '503']) {
        const named = responses[status];
        if (named === undefined) continue;
        assert.ok('$ref' in named, name);
        const { headers } = document.components.responses[named.$ref.split('/').at(-1) ?? ''] ?? {};
        assert.ok(headers?.[status === '401' ? 'www-authenticate' : 'retry-after'], `${name} ${status}`);
      }
    }
  });
});

const isObject = (schema: unknown): boolean => typeof schema === 'object' && schema !== null && 'properties' in schema;

/** What a body must have: what its schema names, and what the variant of it names that the example is. */
function requiredOf(schema: unknown, body: Readonly<Record<string, unknown>>): readonly string[] {
  const { required = [], oneOf = [] } = (schema ?? {}) as { required?: readonly string[]; oneOf?: readonly Variant[] };
  const variants = oneOf.filter(({ properties }) =>
    Object.entries(properties).every(([name, property]) => property['const'] === body[name]),
  );
  return [...new Set([...required, ...variants.flatMap((variant) => variant.required)])];
}
interface Variant {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required: readonly string[];
}

/** The names in a value, all the way down. What is null or empty here or in the other one is not compared. */
function shape(value: unknown, other: unknown): unknown {
  if (value === null || other === null) return 'anything';
  if (Array.isArray(value)) {
    if (!Array.isArray(other) || value.length === 0 || other.length === 0) return 'a list';
    // A list may hold things of several kinds, in any order.
    const names = (it: unknown) => String(Object.keys(it ?? {}).sort());
    const pairs = value.flatMap((one) => other.map((another) => [one, another] as const));
    const [one, another] = pairs.find((pair) => names(pair[0]) === names(pair[1])) ?? [value[0], other[0]];
    return ['a list', shape(one, another)];
  }
  if (typeof value !== 'object' || typeof other !== 'object') return typeof value;
  const names = Object.keys(value).sort();
  return names.map((name) => [name, shape((value as Schema)[name], (other as Schema)[name])]);
}
