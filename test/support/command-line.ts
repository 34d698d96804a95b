import assert from 'node:assert/strict';
import { signInAtServer } from '../../src/cli/login.ts';
import { COMMAND_LINE_ID } from '../../src/clients/rules/command-line.ts';
import type { Agent, Answer } from './agent.ts';
import { typeUserCode } from './devices.ts';
import { newUser, PASSWORD, signedIn, standard, type TestClient, type TestUser } from './flow.ts';
import { MINUTE, settle } from './outcome.ts';
import { enroll, type SecondFactor, totpCode, typeCode } from './second-factor.ts';
import type { TestServer } from './server.ts';

/** The command line as a client. */
export const commandLine: TestClient = standard({ clientId: COMMAND_LINE_ID, redirectUri: '' } as TestClient);

/** A person with an authenticator app, and a browser that signed in with the password alone, an hour ago. */
export interface OperatorInBrowser {
  readonly user: TestUser;
  readonly browser: Agent;
  readonly factor: SecondFactor;
}

export async function operatorInBrowser(
  server: TestServer,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<OperatorInBrowser> {
  const user = await newUser(server, fields);
  const browser = await signedIn(server, user);
  return { user, browser, factor: await enroll(server, user) };
}

/** Types the code of the command line, and proves password and second factor: gives the consent page. */
export async function toConsent(
  server: TestServer,
  { user, browser, factor }: OperatorInBrowser,
  userCode: string,
): Promise<Answer> {
  const login = await typeUserCode(server, browser, userCode);
  assert.match(login.text, /name="password"/, 'a session from before is not enough');
  const first = await browser.submit(login, { identifier: user.username, password: PASSWORD }, '/login');
  const second = await settle(browser, server, first);
  // A code works once.
  server.advance(MINUTE);
  const proved = await typeCode(browser, second, totpCode(factor, server.now()));
  return settle(browser, server, proved);
}

/** Signs in on the command line, as its own code does it. */
export async function signInOnCommandLine(server: TestServer, operator: OperatorInBrowser): Promise<string> {
  let page: Promise<Answer> | undefined;
  const { token } = await signInAtServer(server.baseUrl, {
    show(text) {
      const code = /code (\S+)$/.exec(text)?.[1] ?? '';
      page = toConsent(server, operator, code).then((consent) =>
        operator.browser.submit(consent, { decision: 'allow' }, '/consent'),
      );
    },
    async wait(seconds) {
      assert.equal((await page)?.status, 200);
      server.advance(seconds * 1000);
    },
  });
  return token;
}
