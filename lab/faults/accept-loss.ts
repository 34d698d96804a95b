import { spawnSync } from 'node:child_process';
import { cookieStyle } from '../../src/web/browser/browser.ts';
import { call } from '../../test/support/api-call.ts';
import { redeem, refresh, type TestClient, userinfo } from '../../test/support/flow.ts';
import type { Person } from './ledger.ts';
import { authorize, exchange, newClients, signUp } from './lives.ts';
import { startNode, TESSERA } from './service.ts';
import type { Trial } from './trial.ts';

/** What must be dead once a loss is accepted, beside all that the load holds: a session, and a code that was not redeemed. */
export interface Issued {
  readonly person: Person;
  readonly client: TestClient;
  readonly code: string;
}

export async function issue({ service, ledger }: Trial): Promise<Issued> {
  const [client] = await newClients(service, 1);
  if (client === undefined) throw new Error('there is no client');
  const person = await signUp(service, ledger, client);
  await exchange(service, ledger, person, await authorize(person.browser, client));
  person.granted = true;
  return { person, client, code: await authorize(person.browser, client) };
}

/** Accepts a loss by the command, starts a node on what is left, and presents everything that was issued before. */
export async function acceptLoss({ service, ledger }: Trial, { person, client, code }: Issued): Promise<void> {
  const { settings } = service;
  const command = [...TESSERA, 'recover', '--accept-loss', '--yes', '--json'];
  const env = { PATH: process.env['PATH'], ...settings };
  const { status, stderr } = spawnSync(process.execPath, command, { env, encoding: 'utf8' });
  if (status !== 0) {
    ledger.violated('tessera recover', `expected it to accept the loss that the start told, got ${status}: ${stderr}`);
    return;
  }
  const node = await startNode({ settings });
  const at = { baseUrl: `http://127.0.0.1:${node.port}` };
  const dead = (what: string, answer: { readonly status: number }) => {
    // 429: where a client is among what is lost, its guesses are counted.
    if (![400, 401, 403, 429].includes(answer.status))
      ledger.violated(what, `expected it to be dead once the loss is accepted, got ${answer.status}`);
  };
  try {
    for (const { held, client } of ledger.people) {
      for (const { access, refresh: token } of held) {
        dead('an access token', await userinfo(at, access));
        dead('a refresh token', await refresh(at, client, token));
      }
    }
    dead('a code', await redeem(at, client, code));
    const { session } = cookieStyle(service.baseUrl);
    const cookie = `${session}=${person.browser.cookie(session)}`;
    const page = await call(at, 'GET', '/account', { cookie, accept: 'text/html' });
    if (!page.headers.get('location')?.includes('/login'))
      ledger.violated('a session', `expected to be sent to sign in once the loss is accepted, got ${page.status}`);
  } finally {
    await node.kill();
  }
}
