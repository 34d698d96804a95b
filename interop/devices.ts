/*
 * `npm run interop:devices`: devices that sign their user in with libraries of others, unmodified (RFC 8628). Each asks for its codes, polls while nobody has
 * answered, gets its tokens when the person has typed the code and allowed it, and is refused once the person took the access away. It
 * needs Go for one of them; what is missing is reported, and the exit code is 1.
 */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { DEVICE_GRANT } from '../src/clients/rules/registration.ts';
import { type Agent, agent } from '../test/support/agent.ts';
import { revokeOnPage } from '../test/support/flow.ts';
import { type Issuer, startIssuer } from './issuer.ts';
import { Missing, report, run, stopAll } from './processes.ts';

const FOLDER = join(import.meta.dirname, 'clients', 'devices');
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'tessera-interop', 'devices');

interface Command {
  readonly command: string;
  readonly args: readonly string[];
}

/** How each device is made and started. */
const DEVICES: Readonly<Record<string, () => Promise<Command>>> = {
  'openid-client': async () => ({
    command: process.execPath,
    args: [join(FOLDER, 'openid-client', 'device.js')],
  }),
  'golang.org/x/oauth2': async () => {
    mkdirSync(cache, { recursive: true });
    const command = join(cache, 'device');
    await run('go', ['build', '-o', command, '.'], { cwd: join(FOLDER, 'go') });
    return { command, args: [] };
  },
};

let failed = false;
function expect(what: string, holds: boolean): void {
  report(`  ${holds ? '✔' : '✖'} ${what}`);
  failed ||= !holds;
}

async function signIn({ address, person }: Issuer): Promise<Agent> {
  const browser = agent(address);
  const { username: identifier, password } = person;
  await browser.submit(await browser.get('/login'), { identifier, password }, '/login');
  return browser;
}

/** Types the code, and allows what is asked. */
async function allow(browser: Agent, code: string): Promise<string> {
  let answer = await browser.submit(await browser.get('/device'), { user_code: code });
  while (answer.location !== undefined) answer = await browser.get(answer.location.href);
  return (await browser.submit(answer, { decision: 'allow' }, '/consent')).text;
}

/** Waits until the device has been told that nobody has answered yet. */
async function untilPolled(issuer: Issuer, mark: number): Promise<void> {
  while (!issuer.since(mark).some(({ error }) => error === 'authorization_pending')) {
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

async function connect(issuer: Issuer, browser: Agent, name: string, device: Command): Promise<void> {
  const fields = { name, type: 'public', grantTypes: [DEVICE_GRANT, 'refresh_token'] };
  const { clientId } = await issuer.register(fields);
  const mark = issuer.mark();
  const child = spawn(device.command, device.args, {
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ISSUER: issuer.address, CLIENT_ID: clientId },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async () => String((await lines.next()).value);
    const [, code = '', place] = /^Enter (\S+) at (\S+)$/.exec(await next()) ?? [];
    expect('it shows a code and the address of the page', code !== '' && place === `${issuer.address}/device`);
    await untilPolled(issuer, mark);
    expect('the person is told that the device is connected', (await allow(browser, code)).includes('is connected'));
    expect('it is signed in as the person', (await next()) === `You are ${issuer.person.id}.`);
    await revokeOnPage(browser, { clientId, clientSecret: '', redirectUri: '' });
    child.stdin.write('\n');
    expect('after the person took its access away it is refused', (await next()) === 'Refused: invalid_grant');
  } finally {
    child.kill();
  }
}

try {
  const issuer = await startIssuer();
  try {
    const browser = await signIn(issuer);
    for (const [name, make] of Object.entries(DEVICES)) {
      report(name);
      try {
        await connect(issuer, browser, name, await make());
      } catch (error) {
        if (!(error instanceof Missing)) throw error;
        report(`  skipped: ${error.message}`);
        failed = true;
      }
    }
  } finally {
    await issuer.close();
  }
} finally {
  await stopAll();
}
process.exitCode = failed ? 1 : 0;
