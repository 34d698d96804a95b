import assert from 'node:assert/strict';
import fc from 'fast-check';
import { admin } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { askRecovery, newestMail, useLink } from '../support/recovery.ts';
import { appsSinceReport, endAccess } from './added-since.ts';
import { banned, dropDeadSession, liveGrants, newSession, revoke, secure } from './model.ts';
import { newFactor, signInAnew } from './pages.ts';
import { type Browser, pick, type State, type User } from './state.ts';
import { step } from './step.ts';
import type { World } from './world.ts';

/*
 * Decisions §11: how people get back into their accounts, and keep others out. Whatever secures an account is a new generation: the look
 * after the step finds every token and session from before dead, so an attacker who held any of them holds nothing.
 */

const nat = fc.nat(11);

const isBarred = (user: User, now: number): boolean => banned(user, now) || user.suspended;
export const emailOf = (world: World, user: User): string => pick(world.users, user.index).email;
export const newPassword = (state: State): string => `another password, number ${state.nextGeneration}`;

/** What a recovery asks for beside its link. */
export function codeOf(world: World, user: User): Record<string, string> {
  const { factor } = pick(world.users, user.index);
  if (factor === undefined) return {};
  const code = factor.recoveryCodes.shift();
  assert.ok(code !== undefined, 'a recovery code is left');
  return { factor: code };
}

/** The person has a new password, and everything from before is over. */
export function recovered(state: State, world: World, user: User, password: string): void {
  secure(state, user);
  pick(world.users, user.index).password = password;
}

/** The first proof of an address takes the access of apps away that somebody else may have given. */
export function proveAddress(state: State, user: User): void {
  if (!user.verified) {
    for (const client of state.clients) if (liveGrants(state, user, client).length > 0) revoke(state, user, client);
  }
  user.verified = true;
}

/** Only a person who is not barred, and has a code left where one is asked for, recovers. */
export const canRecover = (state: Readonly<State>, user: User): boolean => user.exists && !isBarred(user, state.now);

export async function enoughCodes(world: World, user: User): Promise<void> {
  const real = pick(world.users, user.index);
  if (real.factor !== undefined && real.factor.recoveryCodes.length < 3) real.factor = await newFactor(world, user);
}

export const peopleSteps = {
  /** The next sign-ins ask for a second factor; sessions from before go on. */
  setUpSecondFactor: step({
    weight: 1,
    argument: nat,
    applies: (state, which) => pick(state.users, which).exists,
    async act(state, world, which) {
      const user = pick(state.users, which);
      pick(world.users, user.index).factor = await newFactor(world, user);
    },
  }),
  /** By a link or code by mail, in the browser that asked or in another one. */
  recover: step({
    weight: 2,
    argument: fc.record({ browser: nat, by: fc.constantFrom('link here', 'link elsewhere', 'code') }),
    applies: (state, { browser }) => canRecover(state, pick(state.browsers, browser).user),
    async act(state, world, argument) {
      const browser: Browser = pick(state.browsers, argument.browser);
      const { user } = browser;
      await enoughCodes(world, user);
      const real = pick(world.browsers, browser.index);
      const password = newPassword(state);
      await askRecovery(world.server, real, emailOf(world, user));
      const { link = '', code = '' } = await newestMail(world.server, emailOf(world, user), 'recovery');
      const here = argument.by !== 'link elsewhere';
      const acting = here ? real : world.newBrowser();
      const typed =
        argument.by === 'code' ? await real.submit(await real.get('/recover/code'), { sent_code: code }) : undefined;
      const apps = await appsSinceReport(state, world, user);
      const done = await useLink(acting, typed?.location?.href ?? link, password, codeOf(world, user));
      assert.equal(done.status, here ? 303 : 200, done.text);
      recovered(state, world, user, password);
      endAccess(state, user, apps);
      proveAddress(state, user);
      // Only the browser that asked is signed in.
      if (here) {
        dropDeadSession(state, browser);
        newSession(state, browser);
      }
      assert.equal((await useLink(acting, link, password)).status, 410, 'a link is good once');
    },
  }),
  /** By a link of an operator, which keeps the second factor. */
  recoverByOperator: step({
    weight: 1,
    argument: nat,
    applies: (state, which) => canRecover(state, pick(state.users, which)),
    async act(state, world, which) {
      const user = pick(state.users, which);
      await enoughCodes(world, user);
      const password = newPassword(state);
      const path = `/users/${pick(world.users, user.index).id}/recovery-link`;
      const reported = await appsSinceReport(state, world, user);
      // Where an earlier address could undo a change, this decides on it, and ends everything at once.
      const answer = await admin(world.server, 'POST', path, { address: 'keep' });
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      // The person is told of the link, and what came since is what the recovery ends.
      const apps = [...reported, ...(await appsSinceReport(state, world, user))];
      const elsewhere = world.newBrowser();
      const link = String(answer.body.url);
      const asked = (await elsewhere.get(link)).text.includes('name="factor"');
      // An app that is not asked for was added since, and is removed.
      if (!asked) pick(world.users, user.index).factor = undefined;
      const done = await useLink(elsewhere, link, password, codeOf(world, user));
      assert.equal(done.status, 200, done.text);
      recovered(state, world, user, password);
      endAccess(state, user, apps);
    },
  }),
  /** A link that was sent before something secured the account is worth nothing after it. */
  recoverTooLate: step({
    weight: 1,
    argument: fc.record({ browser: nat, ban: fc.boolean() }),
    applies: (state, { browser }) => canRecover(state, pick(state.browsers, browser).user),
    async act(state, world, { browser: which, ban }) {
      const { user } = pick(state.browsers, which);
      await askRecovery(world.server, world.newBrowser(), emailOf(world, user));
      const { link = '' } = await newestMail(world.server, emailOf(world, user), 'recovery');
      const { id } = pick(world.users, user.index);
      if (ban) {
        await admin(world.server, 'PUT', `/users/${id}/suspension`, {});
        await admin(world.server, 'DELETE', `/users/${id}/suspension`);
        secure(state, user);
      } else {
        const password = newPassword(state);
        await admin(world.server, 'PATCH', `/users/${id}`, { password });
        recovered(state, world, user, password);
      }
      const late = await useLink(world.newBrowser(), link, 'a password of a thief');
      assert.equal(late.status, 410);
    },
  }),
  /** "This was not me", of the mail about a sign-in in a new browser: the password is gone, and the person recovers. */
  report: step({
    weight: 1,
    argument: nat,
    applies: (state, which) => canRecover(state, pick(state.users, which)),
    async act(state, world, which) {
      const user = pick(state.users, which);
      await enoughCodes(world, user);
      const address = emailOf(world, user);
      const thief = world.newBrowser();
      assert.ok(await signInAnew(world, user, thief), 'who knows the password, and the second factor, signs in');
      const told = (await mailsTo(world.server, address)).find(({ link }) => link?.includes('/secure-account'));
      // The first sign-in of an account is not told.
      if (told?.link === undefined) return;
      const reader = world.newBrowser();
      const pressed = await reader.get(told.link);
      // A report ends with the next generation.
      if (pressed.status !== 200) return;
      const apps = await appsSinceReport(state, world, user);
      const done = await reader.submit(pressed, {}, '/secure-account');
      assert.equal(done.status, 200, done.text);
      secure(state, user);
      endAccess(state, user, apps);
      assert.equal((await thief.get('/account')).location?.pathname, '/login', 'the thief is out');
      const { link = '' } = await newestMail(world.server, address, 'recovery');
      const password = newPassword(state);
      const back = await useLink(world.newBrowser(), link, password, codeOf(world, user));
      assert.equal(back.status, 200, back.text);
      recovered(state, world, user, password);
      proveAddress(state, user);
    },
  }),
};
