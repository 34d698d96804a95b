import assert from 'node:assert/strict';
import { type Agent, type Answer, agent } from './agent.ts';
import { mailsTo, type SentMail } from './mail.ts';
import type { TestServer } from './server.ts';

/** The newest message of a kind to an address. */
export async function newestMail(server: TestServer, address: string, kind: string): Promise<SentMail> {
  const found = (await mailsTo(server, address)).find((mail) => mail.kind === kind);
  assert.ok(found !== undefined, `no mail of the kind ${kind} to ${address}`);
  return found;
}

/** Asks for a recovery in a browser, and lets the server make the message. */
export async function askRecovery(server: TestServer, browser: Agent, identifier: string): Promise<Answer> {
  const answer = await browser.submit(await browser.get('/recover'), { identifier });
  await server.sendRequestedMail();
  return answer;
}

/** Opens a link and sends its form. */
export async function useLink(
  browser: Agent,
  link: string,
  password: string,
  more: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const page = await browser.get(link);
  return page.status === 200 ? browser.submit(page, { password, ...more }, '/recover/link') : page;
}

/** Recovers an account by mail, in a new browser. */
export async function recover(
  server: TestServer,
  address: string,
  password: string,
  browser = agent(server.baseUrl),
): Promise<Answer> {
  await askRecovery(server, browser, address);
  const { link = '' } = await newestMail(server, address, 'recovery');
  return useLink(browser, link, password);
}
