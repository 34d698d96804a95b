// store: SQLite
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import express from 'express';
import fastify from 'fastify';
import {
  type Caller,
  createResourceServer,
  expressMetadata,
  expressProtect,
  fastifyCaller,
  fastifyMetadata,
  fastifyProtect,
  honoMetadata,
  honoProtect,
  protect,
  type Requirement,
  serveMetadata,
} from '../../packages/resource-server/src/index.ts';
import { coalesced, type IntrospectedToken } from '../../packages/resource-server/src/introspection.ts';
import { allow, newApi } from '../support/api-scopes.ts';
import {
  authorizeUrl,
  newClient,
  newSignedInUser,
  redeem,
  revokeOnPage,
  standard,
  tokensFor,
  walk,
} from '../support/flow.ts';
import { startServer } from '../support/server.ts';

// The package @tessera-id/resource-server, from its sources, behind each framework that it is for.

const server = await startServer({ TESSERA_LIMIT_CLIENT_AUTH: 'off' });
after(() => server.close());
const api = await newApi(server, ['notes.read', 'notes.write']);
const options = {
  issuer: server.baseUrl,
  resource: api.resource,
  clientId: api.clientId,
  clientSecret: api.clientSecret,
  scopes: ['notes.read', 'notes.write'],
  resourceName: 'Notes',
};
const notes = createResourceServer(options);
const app = standard(await newClient(server));
await allow(server, api, app, ['notes.read']);
const READ: Requirement = { scopes: ['notes.read'] };
const WRITE: Requirement = { scopes: ['notes.write'] };
const STRONG: Requirement = { ...READ, acrValues: ['phr'], maxAge: 60 };

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

type Send = (path: string, token?: string) => Promise<Response>;

/** Listens, and sends requests to it. */
async function listening(listener: RequestListener): Promise<Send> {
  const http = createServer(listener);
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  after(() => http.close());
  const { port } = http.address() as AddressInfo;
  return (path, token) => fetch(`http://127.0.0.1:${port}${path}`, { headers: authorizationOf(token) });
}

const authorizationOf = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

const PROTECTED = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

const FRAMEWORKS: Readonly<Record<string, () => Promise<Send>>> = {
  async Express() {
    const web = express();
    web.use(expressMetadata(notes));
    const answer = (request: { caller?: Caller }, response: { json(body: unknown): void }) =>
      response.json({ sub: request.caller?.sub });
    web.get('/read', expressProtect(notes, READ), answer);
    web.get('/write', expressProtect(notes, WRITE), answer);
    web.get('/strong', expressProtect(notes, STRONG), answer);
    return listening(web);
  },
  async Fastify() {
    const web = fastify();
    // As every service in these tests.
    web.addHook('onRequest', async (_request, reply) => {
      reply.headers(PROTECTED);
    });
    fastifyMetadata(notes, web);
    for (const [path, requirement] of Object.entries({ '/read': READ, '/write': WRITE, '/strong': STRONG })) {
      web.get(path, { preHandler: fastifyProtect(notes, requirement) }, async (request) => ({
        sub: fastifyCaller(request).sub,
      }));
    }
    await web.ready();
    after(() => web.close());
    return listening((request, response) => web.routing(request, response));
  },
  async 'Request and Response'() {
    const routes = Object.entries({ '/read': READ, '/write': WRITE, '/strong': STRONG }).map(
      ([path, requirement]) =>
        [path, protect(notes, requirement, (_request, { sub }) => Response.json({ sub }))] as const,
    );
    const handlers = new Map(routes);
    return async (path, token) => {
      const request = new Request(`https://api.example${path}`, { headers: authorizationOf(token) });
      const metadata = serveMetadata(notes, request);
      if (metadata !== undefined) return metadata;
      return (await handlers.get(path)?.(request)) ?? new Response(null, { status: 404 });
    };
  },
  async Hono() {
    const requirements = new Map(Object.entries({ '/read': READ, '/write': WRITE, '/strong': STRONG }));
    return async (path, token) => {
      const variables = new Map<string, unknown>();
      const raw = new Request(`https://api.example${path}`, { headers: authorizationOf(token) });
      const context = { req: { raw }, set: (name: string, value: unknown) => void variables.set(name, value) };
      let reached = false;
      const next = async () => {
        reached = true;
      };
      const metadata = await honoMetadata(notes)(context, next);
      if (metadata !== undefined) return metadata;
      assert.equal(reached, true);
      reached = false;
      const refused = await honoProtect(notes, requirements.get(path))(context, next);
      assert.equal(reached, refused === undefined);
      return refused ?? Response.json({ sub: (variables.get('caller') as Caller).sub });
    };
  },
};

/** A person's token for the API. */
async function newToken(scope = 'openid notes.read') {
  const { user, browser } = await newSignedInUser(server);
  const target = await walk(browser, authorizeUrl(app, { scope, resource: api.resource }), { user });
  const { body } = await redeem(server, app, target.searchParams.get('code') ?? '');
  return {
    user,
    browser,
    token: String(body.access_token),
    refreshToken: String(body.refresh_token),
    idToken: String(body.id_token),
  };
}

for (const [name, start] of Object.entries(FRAMEWORKS)) {
  describe(name, async () => {
    const send = await start();

    test('a valid token is let through, with the caller; taken away, it is refused at the next request', async () => {
      const { user, browser, token } = await newToken();
      const answer = await send('/read', token);
      assert.deepEqual([answer.status, await answer.json()], [200, { sub: user.id }]);
      await revokeOnPage(browser, app);
      const refused = await send('/read', token);
      assert.equal(refused.status, 401);
      assert.match(refused.headers.get('www-authenticate') ?? '', /error="invalid_token"/);
    });

    test('RFC 6750 §3: what is no token for this API is 401, and the challenge names the metadata', async () => {
      const { refreshToken, idToken, user } = await newToken();
      const other = await tokensFor(server, app, user, { scope: 'openid' });
      for (const token of [undefined, 'x', refreshToken, idToken, other.access_token]) {
        const refused = await send('/read', token);
        assert.equal(refused.status, 401, token ?? 'none');
        const challenge = refused.headers.get('www-authenticate') ?? '';
        assert.ok(challenge.includes(`resource_metadata="${new URL(api.resource).origin}/.well-known/`), challenge);
        assert.equal(challenge.includes('error='), token !== undefined);
      }
    });

    test('a missing scope is 403 with its name, and a weak sign-in 401 with what is needed (RFC 9470)', async () => {
      const { token } = await newToken();
      const narrow = await send('/write', token);
      assert.equal(narrow.status, 403);
      assert.match(narrow.headers.get('www-authenticate') ?? '', /error="insufficient_scope", scope="notes\.write"/);
      const weak = await send('/strong', token);
      assert.equal(weak.status, 401);
      const challenge = weak.headers.get('www-authenticate') ?? '';
      assert.match(challenge, /error="insufficient_user_authentication", acr_values="phr", max_age="60"/);
    });

    test('RFC 9728: the metadata is at both paths', async () => {
      for (const path of notes.metadataPaths) {
        const answer = await send(path);
        assert.equal(answer.status, 200, path);
        assert.deepEqual(await answer.json(), {
          resource: api.resource,
          authorization_servers: [server.baseUrl],
          scopes_supported: ['notes.read', 'notes.write'],
          bearer_methods_supported: ['header'],
          resource_name: 'Notes',
        });
      }
    });
  });
}

describe('it fails closed', () => {
  const TOKEN = 'Bearer anything';
  const FAILURES: Readonly<Record<string, typeof fetch>> = {
    'no answer': () => Promise.reject(new TypeError('fetch failed')),
    'an error': async () => new Response(null, { status: 500 }),
    'no JSON': async () => new Response('active'),
    'JSON that is no answer': async () => Response.json({ active: 'yes' }),
    'the metadata of another issuer': async () =>
      Response.json({ issuer: 'https://evil.example', introspection_endpoint: 'https://evil.example/', active: true }),
  };
  for (const [failure, answer] of Object.entries(FAILURES)) {
    test(`${failure}: 503`, async () => {
      const told: string[] = [];
      const broken = createResourceServer({
        ...options,
        fetch: answer,
        onFailure: ({ message }) => told.push(message),
      });
      const result = await broken.check(TOKEN);
      assert.deepEqual('status' in result && result.status, 503);
      assert.equal(told.length, 1);
    });
  }

  test('wrong credentials of its own: 503, not a wrong token', async () => {
    const result = await createResourceServer({ ...options, clientSecret: 'wrong' }).check(TOKEN);
    assert.deepEqual('status' in result && result.status, 503);
  });

  test('it recovers: a failed discovery is tried again', async () => {
    let isUp = false;
    const recovering = createResourceServer({
      ...options,
      fetch: (input, init) => (isUp ? fetch(input, init) : Promise.reject(new TypeError('fetch failed'))),
    });
    assert.equal('status' in (await recovering.check(TOKEN)), true);
    isUp = true;
    const { token, user } = await newToken();
    const caller = await recovering.check(`Bearer ${token}`);
    assert.equal('sub' in caller && caller.sub, user.id);
  });
});

test('requests share an introspection only if it was sent after each of them had come', async () => {
  const answers: PromiseWithResolvers<IntrospectedToken>[] = [];
  const ask = coalesced(() => {
    const answer = Promise.withResolvers<IntrospectedToken>();
    answers.push(answer);
    return answer.promise;
  });
  const first = ask('t');
  const burst = [ask('t'), ask('t'), ask('t')];
  const another = ask('u');
  assert.equal(answers.length, 2, 'one for each token is under way');
  answers[0]?.resolve({ active: true });
  assert.equal((await first).active, true);
  await new Promise(setImmediate);
  assert.equal(answers.length, 3, 'one for all who came meanwhile');
  // Taken away in between: none of those who came later gets the earlier answer.
  answers[2]?.resolve({ active: false });
  assert.deepEqual(
    (await Promise.all(burst)).map(({ active }) => active),
    [false, false, false],
  );
  answers[1]?.reject(new Error('away'));
  await assert.rejects(another);
  const later = ask('u');
  answers[3]?.resolve({ active: true });
  assert.equal((await later).active, true);
});

test('the package builds, and what it exports is what its sources do', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-kit-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const [compiler, project] = ['node_modules/typescript/bin/tsc', 'packages/resource-server/tsconfig.json'];
  await promisify(execFile)(process.execPath, [compiler, '--project', project, '--outDir', folder], { cwd: ROOT });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const built: object = await import(pathToFileURL(join(folder, 'index.js')).href);
  const sources: object = await import('../../packages/resource-server/src/index.ts');
  assert.deepEqual(Object.keys(built).sort(), Object.keys(sources).sort());
});
