import assert from 'node:assert/strict';
import type { OperatorRole } from '../../src/operators/permissions.ts';
import type { Agent, Answer } from './agent.ts';
import { admin, newUser, type TestUser } from './flow.ts';
import { MINUTE } from './outcome.ts';
import { atSecondStep, enroll, type SecondFactor, totpCode, typeCode } from './second-factor.ts';
import type { TestServer } from './server.ts';

/** A person with a role of operators, signed in with a second factor. */
export interface TestOperator extends TestUser {
  readonly browser: Agent;
  readonly factor: SecondFactor;
}

export async function newOperator(server: TestServer, role: OperatorRole, fields = {}): Promise<TestOperator> {
  const user = await newUser(server, { emailVerified: true, ...fields });
  const granted = await admin(server, 'PUT', `/users/${user.id}/roles/${role}`, {});
  assert.equal(granted.status, 200, JSON.stringify(granted.body));
  const factor = await enroll(server, user);
  // A code is accepted once: those of the steps before are used.
  server.advance(MINUTE);
  const { browser, page } = await atSecondStep(server, user);
  const answer = await typeCode(browser, page, totpCode(factor, server.now()));
  assert.deepEqual([answer.status, answer.location?.pathname], [303, '/account'], answer.text);
  return { ...user, browser, factor };
}

/** Gets a page of the console, with a fresh proof where it asks for one. */
export async function open(server: TestServer, { browser, factor }: TestOperator, address: string): Promise<Answer> {
  const page = await browser.get(address);
  if (page.location?.pathname !== '/account/confirm') return page;
  // A code is accepted once.
  server.advance(MINUTE);
  const confirm = await browser.get(page.location.href);
  const proved = await browser.submit(confirm, { code: totpCode(factor, server.now()) }, '/account/confirm');
  assert.equal(proved.location?.pathname, '/console/back', proved.text);
  const back = await browser.get(proved.location.href);
  assert.equal(back.location?.href, new URL(address, server.baseUrl).href);
  return browser.get(address);
}

/** Opens the page of an act and presses its button. */
export async function act(
  server: TestServer,
  operator: TestOperator,
  address: string,
  about: Readonly<Record<string, string>>,
  typed: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const page = await open(server, operator, `${address}?${new URLSearchParams(about)}`);
  assert.equal(page.status, 200, `${page.location} ${page.text}`);
  return operator.browser.submit(page, typed, address);
}
