// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Command } from 'commander';
import { program } from '../../src/cli/program.ts';
import { connectIdentity, newProviderRecord } from '../support/connected-identity.ts';
import { admin, newClient, newUser, tokensFor, userinfo } from '../support/flow.ts';
import { realKeys } from '../support/forged-token.ts';
import { startServer } from '../support/server.ts';
import { tesseraHere as tessera } from './command-here.ts';

const server = await startServer();
after(() => server.close());

/** Makes what a command takes away; answers its argument, and whether it is still there. */
type Victim = () => Promise<{
  readonly name: string;
  /** Without which nothing is taken away. */
  readonly option?: string | readonly string[];
  isThere(): Promise<boolean>;
}>;

let made = 0;

const VICTIMS: Readonly<Record<string, Victim>> = {
  async 'user delete'() {
    const { id, username } = await newUser(server);
    return { name: username, isThere: async () => (await admin(server, 'GET', `/users/${id}`)).status === 200 };
  },
  async 'user remove-identity'() {
    const { id, username } = await newUser(server);
    const identity = await connectIdentity(server, id);
    const isThere = async () => (await admin(server, 'GET', `/users/${id}/identities`)).body.items.length === 1;
    return { name: username, option: identity, isThere };
  },
  async 'client delete'() {
    const { clientId } = await newClient(server);
    return { name: clientId, isThere: async () => (await admin(server, 'GET', `/clients/${clientId}`)).status === 200 };
  },
  async 'keys drop'() {
    const { access_token } = await tokensFor(server, await newClient(server), await newUser(server));
    const { kid } = await realKeys(server);
    return { name: kid, isThere: async () => (await userinfo(server, access_token)).status === 200 };
  },
  async 'group delete'() {
    const { body } = await admin(server, 'POST', '/groups', { name: `analysts-${++made}` });
    return { name: body.id, isThere: async () => (await admin(server, 'GET', `/groups/${body.id}`)).status === 200 };
  },
  async 'org delete'() {
    const { body } = await admin(server, 'POST', '/organizations', { name: `acme-${++made}`, domain: 'acme.example' });
    const isThere = async () => (await admin(server, 'GET', `/organizations/${body.id}`)).status === 200;
    return { name: body.id, isThere };
  },
  async 'upstream delete'() {
    const { id, name } = await newProviderRecord(server);
    return { name, isThere: async () => (await admin(server, 'GET', `/upstreams/${id}`)).status === 200 };
  },
  async 'upstream disable'() {
    const { id, name } = await newProviderRecord(server);
    const isThere = async () => (await admin(server, 'GET', `/upstreams/${id}`)).body.status === 'active';
    return { name, option: '--end-sessions', isThere };
  },
  async 'org require-upstream'() {
    const { name } = await newProviderRecord(server);
    const { body } = await admin(server, 'POST', '/organizations', { name: `of-${name}`, domain: 'acme.example' });
    const path = `/organizations/${body.id}/only-upstream`;
    const isThere = async () => (await admin(server, 'GET', path)).body.upstreamId === null;
    return { name: body.id, option: [name, '--end-sessions'], isThere };
  },
  async 'second-factor end-existing'() {
    const client = await newClient(server);
    const { access_token } = await tokensFor(server, client, await newUser(server));
    const isThere = async () => (await userinfo(server, access_token)).status === 200;
    return { name: `--client=${client.clientId}`, isThere };
  },
  async restore() {
    const { access_token } = await tokensFor(server, await newClient(server), await newUser(server));
    return { name: '--new-epoch', isThere: async () => (await userinfo(server, access_token)).status === 200 };
  },
  async recover() {
    const { access_token } = await tokensFor(server, await newClient(server), await newUser(server));
    return { name: '--accept-loss', isThere: async () => (await userinfo(server, access_token)).status === 200 };
  },
};

function* commandsOf(command: Command, path: readonly string[] = []): Generator<readonly [string, Command]> {
  for (const child of command.commands) {
    yield [[...path, child.name()].join(' '), child];
    yield* commandsOf(child, [...path, child.name()]);
  }
}

test('every command that can be told not to ask is tried here', () => {
  const asking = [...commandsOf(program())].filter(([, { options }]) => options.some(({ long }) => long === '--yes'));
  assert.deepEqual(asking.map(([name]) => name).sort(), Object.keys(VICTIMS).sort());
});

for (const [command, make] of Object.entries(VICTIMS)) {
  test(`tessera ${command} asks at a terminal before it does anything`, async () => {
    const { name, option, isThere } = await make();
    const outcome = await tessera([...command.split(' '), name, ...[option ?? []].flat()], {
      env: server.environment,
      input: 'no\n',
      atTerminal: true,
    });
    assert.match(outcome.stderr, /cannot be undone\. Type "yes" to continue: .*Nothing was changed\.\n$/s);
    assert.deepEqual([outcome.code, outcome.stdout, await isThere()], [1, '', true]);
  });

  test(`tessera ${command} refuses without a terminal and --yes`, async () => {
    const { name, option, isThere } = await make();
    const outcome = await tessera([...command.split(' '), name, ...[option ?? []].flat()], { env: server.environment });
    assert.match(outcome.stderr, /no terminal to ask in, so nothing was changed\. To go on, add --yes\.$/m);
    assert.deepEqual([outcome.code, outcome.stdout, await isThere()], [1, '', true]);
  });
}
