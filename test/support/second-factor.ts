import assert from 'node:assert/strict';
import { HOTP, Secret } from 'otpauth';
import { issueRecoveryCodes, prepareRecoveryCodes } from '../../src/account-actions/authentication/recovery-code.ts';
import { randomSeed, sealSeed } from '../../src/account-actions/authentication/totp.ts';
import { timeStep } from '../../src/authenticators/rules/codes.ts';
import { saveTotpSeed } from '../../src/authenticators/totp-store.ts';
import type { Core } from '../../src/core.ts';
import { type Agent, type Answer, agent } from './agent.ts';
import { PASSWORD, type TestUser } from './flow.ts';
import { withData } from './forged-token.ts';
import type { TestServer } from './server.ts';

/** What a person keeps who set up an authenticator app. */
export interface SecondFactor {
  readonly seed: string;
  readonly recoveryCodes: readonly string[];
}

/** The code that an authenticator app shows, at a number of time steps from now. */
export const totpCode = ({ seed }: Pick<SecondFactor, 'seed'>, now: number, steps = 0): string =>
  HOTP.generate({ secret: Secret.fromBase32(seed), counter: timeStep(now) + steps });

/** Gives a person an authenticator app and recovery codes, as if they had set them up an hour ago, in an earlier session. */
export const enroll = (server: TestServer, { id }: Pick<TestUser, 'id'>): Promise<SecondFactor> =>
  withData(server, (core) => enrollAt(core, id, core.clock() - 3_600_000));

/** The same in data that is open, as of an instant. */
export async function enrollAt(
  { database, clock, sealer: open }: Pick<Core, 'database' | 'clock' | 'sealer'>,
  accountId: string,
  at: number,
): Promise<SecondFactor> {
  const sealer = await open();
  const seed = randomSeed();
  const sealed = sealSeed(sealer, accountId, seed);
  const prepared = prepareRecoveryCodes(sealer, accountId);
  const lastStep = timeStep(clock() - 3_600_000);
  await database.commit(function* save() {
    yield* saveTotpSeed({ accountId, sealed, generation: 'any', now: at, lastStep });
    yield* issueRecoveryCodes(prepared, accountId, at);
  });
  return { seed, recoveryCodes: prepared.codes };
}

/** Gives a person recovery codes, as if they had got them an hour ago. */
export function giveRecoveryCodes(server: TestServer, { id }: Pick<TestUser, 'id'>): Promise<readonly string[]> {
  return withData(server, async ({ database, clock, sealer }) => {
    const prepared = prepareRecoveryCodes(await sealer(), id);
    await database.commit(() => issueRecoveryCodes(prepared, id, clock() - 3_600_000));
    return prepared.codes;
  });
}

/** A browser in which the first factor was right: at the page that asks for the second. */
export async function atSecondStep(
  server: TestServer,
  user: TestUser,
  browser: Agent = agent(server.baseUrl, server.nodeInTurn),
  password = PASSWORD,
): Promise<{ readonly browser: Agent; readonly page: Answer }> {
  const answer = await browser.submit(await browser.get('/login'), { identifier: user.username, password }, '/login');
  assert.deepEqual([answer.status, answer.location?.pathname], [303, '/login/verify'], answer.text);
  const page = await browser.get(answer.location?.href ?? '');
  assert.equal(page.status, 200, page.text);
  return { browser, page };
}

/** Types a code of the app, or a recovery code. */
export const typeCode = (browser: Agent, page: Answer, code: string, kind = 'app'): Promise<Answer> =>
  browser.submit(page, { code, with: kind }, '/login/verify');
