import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Agent } from '../support/agent.ts';
import { admin } from '../support/flow.ts';
import { mailsTo } from '../support/mail.ts';
import { query } from '../support/outcome.ts';
import { newPasskey, usePasskey } from '../support/passkeys.ts';
import { askRecovery, newestMail, useLink } from '../support/recovery.ts';
import { totpCode } from '../support/second-factor.ts';
import { appsSinceChange, appsSinceReport, endAccess } from './added-since.ts';
import { secure } from './model.ts';
import { newFactor, passSecondFactor, signInAnew } from './pages.ts';
import { canRecover, codeOf, emailOf, enoughCodes, newPassword, proveAddress, recovered } from './people.ts';
import { pick, type State, type User } from './state.ts';
import { step } from './step.ts';
import type { World } from './world.ts';

/*
 * Decisions §11: what people do to their own accounts. Each step shows what it must not leave behind; the look after it
 * finds every token and session of the model's browsers as the generation says.
 */

const nat = fc.nat(11);
const isSignedIn = async (browser: Agent): Promise<boolean> => (await browser.get('/account')).status === 200;
const press = async (browser: Agent, link: string, fields: Record<string, string> = {}) =>
  browser.submit(await browser.get(link), fields);

/** A browser in which the person has just signed in. */
async function freshBrowser(world: World, user: User): Promise<Agent> {
  const browser = world.newBrowser();
  assert.ok(await signInAnew(world, user, browser), 'a sign-in');
  return browser;
}

/** Ends what is from before, as an operator does who bars a person for a moment. */
async function suspendForAMoment(state: State, world: World, user: User): Promise<void> {
  const { id } = pick(world.users, user.index);
  await admin(world.server, 'PUT', `/users/${id}/suspension`, {});
  await admin(world.server, 'DELETE', `/users/${id}/suspension`);
  secure(state, user);
}

/** Asks for a code by mail in a browser. */
async function askCode(world: World, user: User, browser: Agent): Promise<string> {
  const address = emailOf(world, user);
  await browser.submit(await browser.get('/login/code'), { identifier: address }, '/login/code');
  await world.server.sendRequestedMail();
  return (await newestMail(world.server, address, 'sign-in code')).code ?? '';
}

const typeCode = async (browser: Agent, code: string) =>
  browser.submit(await browser.get('/login/code/enter'), { sent_code: code }, '/login/code/enter');

const known = fc.record({ user: nat, other: fc.boolean() });
const isVerified = (state: Readonly<State>, { user }: { readonly user: number; readonly other: boolean }): boolean => {
  const person = pick(state.users, user);
  return canRecover(state, person) && person.verified;
};

/** Gives the person another address, as their thief does, who knows what they sign in with. */
async function moveAddress(state: State, world: World, user: User, acting: Agent, email: string): Promise<void> {
  const person = pick(world.users, user.index);
  await acting.submit(await acting.get('/account/email'), { email }, '/account/email');
  const { link = '' } = await newestMail(world.server, email, 'address change');
  assert.equal((await press(acting, link)).status, 200);
  secure(state, user);
  person.email = email;
}

/** The person recovers, where the password was set since the account may have been in foreign hands, and does without an app of that time. */
async function replaceWhatIsGone(state: State, world: World, user: User): Promise<void> {
  const person = pick(world.users, user.index);
  const [left] = await query(
    world.server,
    'SELECT password_hash, (SELECT max(1) FROM totp_secret WHERE account_id = account.id) AS app FROM account WHERE id = ?',
    person.id,
  );
  if (left?.['app'] == null) person.factor = undefined;
  if (left?.['password_hash'] != null) return;
  const password = newPassword(state);
  await askRecovery(world.server, world.newBrowser(), person.email);
  const { link = '' } = await newestMail(world.server, person.email, 'recovery');
  const apps = await appsSinceReport(state, world, user);
  const done = await useLink(world.newBrowser(), link, password, codeOf(world, user));
  assert.equal(done.status, 200, done.text);
  recovered(state, world, user, password);
  endAccess(state, user, apps);
}

/** The newest link with which an address can undo a change. */
const undoLink = async (world: World, address: string): Promise<string | undefined> =>
  (await mailsTo(world.server, address)).find(({ link }) => link?.includes('/undo-address-change'))?.link;

export const ownAccountSteps = {
  /** A thief has moved the address; an operator sets the earlier one again, and nothing from before it works. */
  operatorSetsAddress: step({
    weight: 1,
    argument: known,
    applies: isVerified,
    async act(state, world, { user: which }) {
      const user = pick(state.users, which);
      const person = pick(world.users, user.index);
      await enoughCodes(world, user);
      const thief = await freshBrowser(world, user);
      const earlier = person.email;
      await moveAddress(state, world, user, thief, `thief-${state.nextGeneration}-${person.username}@example.com`);
      const right = await undoLink(world, earlier);
      const apps = await appsSinceChange(state, world, user, earlier);
      const set = await admin(world.server, 'PATCH', `/users/${person.id}`, { email: earlier, emailVerified: true });
      assert.equal(set.status, 200, JSON.stringify(set.body));
      secure(state, user);
      endAccess(state, user, apps);
      person.email = earlier;
      assert.equal(await isSignedIn(thief), false);
      assert.equal((await world.newBrowser().get(right ?? '')).status, 410);
      await replaceWhatIsGone(state, world, user);
    },
  }),
  /** The owner goes back to the address that a thief moved, and keeps the account whatever the thief's address does. */
  goBackToAddress: step({
    weight: 1,
    argument: known,
    applies: isVerified,
    async act(state, world, { user: which }) {
      const user = pick(state.users, which);
      const person = pick(world.users, user.index);
      // A person who has an authenticator app undoes the change, in the step below.
      if (person.factor !== undefined) return;
      const thief = await freshBrowser(world, user);
      const [earlier, thiefs] = [person.email, `thief-${state.nextGeneration}-${person.username}@example.com`];
      await moveAddress(state, world, user, thief, thiefs);
      const right = (await undoLink(world, earlier)) ?? '';
      const owner = await freshBrowser(world, user);
      const apps = await appsSinceChange(state, world, user, earlier);
      await moveAddress(state, world, user, owner, earlier);
      assert.deepEqual([await isSignedIn(thief), await isSignedIn(owner)], [false, true]);
      const younger = await undoLink(world, thiefs);
      if (younger === undefined) {
        assert.equal((await world.newBrowser().get(right)).status, 410, 'the right was used');
        endAccess(state, user, apps);
        return;
      }
      const appsOfYounger = await appsSinceChange(state, world, user, thiefs);
      // What the owner signed in with was set since the account may have been in foreign hands: the older right decides.
      assert.equal((await press(world.newBrowser(), younger)).status, 200);
      secure(state, user);
      assert.equal((await press(world.newBrowser(), right)).status, 200);
      secure(state, user);
      endAccess(state, user, [...apps, ...appsOfYounger]);
      const recovery = await newestMail(world.server, earlier, 'recovery');
      const password = newPassword(state);
      const done = await useLink(world.newBrowser(), recovery.link ?? '', password);
      assert.equal(done.status, 200, done.text);
      recovered(state, world, user, password);
    },
  }),
  /** Another address; and, where that was a thief, the owner of the earlier one undoes it. */
  changeAddress: step({
    weight: 1,
    argument: known,
    applies: isVerified,
    async act(state, world, { user: which, other: undo }) {
      const user = pick(state.users, which);
      const person = pick(world.users, user.index);
      await enoughCodes(world, user);
      const [acting, another] = [await freshBrowser(world, user), await freshBrowser(world, user)];
      const earlier = person.email;
      const email = `number-${state.nextGeneration}-${person.username}@example.com`;
      await acting.submit(await acting.get('/account/email'), { email }, '/account/email');
      const { link = '' } = await newestMail(world.server, email, 'address change');
      assert.equal((await press(acting, link)).status, 200);
      secure(state, user);
      person.email = email;
      assert.deepEqual([await isSignedIn(acting), await isSignedIn(another)], [true, false]);
      if (!undo) return;
      const told = await newestMail(world.server, earlier, 'address changed');
      const owner = world.newBrowser();
      const asked = (await owner.get(told.link ?? '')).text.includes('name="code"');
      const { factor } = person;
      const code = asked ? { code: factor?.recoveryCodes.shift() ?? '' } : {};
      const apps = await appsSinceChange(state, world, user, earlier);
      const undone = await press(owner, told.link ?? '', code);
      assert.equal(undone.status, 200, undone.text);
      secure(state, user);
      endAccess(state, user, apps);
      person.email = earlier;
      // A factor that is not asked for was added since, and is removed.
      if (!asked) person.factor = undefined;
      assert.deepEqual([await isSignedIn(acting), await isSignedIn(owner)], [false, false]);
      const recovery = await newestMail(world.server, earlier, 'recovery');
      const password = newPassword(state);
      const done = await useLink(world.newBrowser(), recovery.link ?? '', password, codeOf(world, user));
      assert.equal(done.status, 200, done.text);
      recovered(state, world, user, password);
    },
  }),
  /** Somebody else had added a passkey, and held it before a recovery: afterwards it opens nothing. */
  recoverFromPasskey: step({
    weight: 1,
    argument: nat,
    applies: (state, which) => canRecover(state, pick(state.users, which)),
    async act(state, world, which) {
      const user = pick(state.users, which);
      await enoughCodes(world, user);
      const stolen = await newPasskey(world.server, pick(world.users, user.index).id);
      const thief = world.newBrowser();
      assert.equal((await usePasskey(thief, stolen)).status, 303, 'a passkey signs in');
      const password = newPassword(state);
      const owner = world.newBrowser();
      await askRecovery(world.server, owner, emailOf(world, user));
      const { link = '' } = await newestMail(world.server, emailOf(world, user), 'recovery');
      const apps = await appsSinceReport(state, world, user);
      const done = await useLink(owner, link, password, codeOf(world, user));
      assert.equal(done.status, 303, done.text);
      recovered(state, world, user, password);
      endAccess(state, user, apps);
      proveAddress(state, user);
      assert.deepEqual([await isSignedIn(owner), await isSignedIn(thief)], [true, false]);
      assert.equal((await usePasskey(world.newBrowser(), stolen)).status, 401, 'a passkey that was not used is gone');
    },
  }),
  /** A code by mail signs in, with the second factor where there is one; a code from before a new generation does not. */
  signInByCode: step({
    weight: 1,
    argument: known,
    applies: isVerified,
    async act(state, world, { user: which, other: late }) {
      const user = pick(state.users, which);
      const browser = world.newBrowser();
      const code = await askCode(world, user, browser);
      if (late) await suspendForAMoment(state, world, user);
      const answer = await typeCode(browser, code);
      assert.equal(answer.status === 303, !late, answer.text);
      if (!late) await passSecondFactor(world, user, browser, answer);
      assert.equal(await isSignedIn(browser), !late);
    },
  }),
  /** A browser that is trusted is not asked for the second factor, until something secures the account. */
  trustBrowser: step({
    weight: 1,
    argument: nat,
    applies: (state, which) => canRecover(state, pick(state.users, which)),
    async act(state, world, which) {
      const user = pick(state.users, which);
      const person = pick(world.users, user.index);
      // Codes of an app are good once: those of a new one have not been used.
      person.factor = await newFactor(world, user);
      const browser = world.newBrowser();
      const signIn = async () =>
        browser.submit(
          await browser.get('/login'),
          { identifier: person.username, password: person.password },
          '/login',
        );
      const first = await signIn();
      const code = totpCode(person.factor, state.now);
      const page = await browser.get(first.location?.href ?? '');
      assert.equal((await browser.submit(page, { code, trust: 'on' }, '/login/verify')).status, 303);
      const signOut = async () => browser.submit(await browser.get('/account'), {}, '/logout');
      await signOut();
      assert.equal((await signIn()).location?.pathname, '/account', 'trusted');
      await suspendForAMoment(state, world, user);
      assert.equal(await isSignedIn(browser), false);
      assert.equal((await signIn()).location?.pathname, '/login/verify', 'asked again');
    },
  }),
  /** Whoever asks for deletion is out everywhere at once; coming back is a sign-in, and revives nothing. */
  leaveAndComeBack: step({
    weight: 1,
    argument: nat,
    applies: (state, which) => canRecover(state, pick(state.users, which)),
    async act(state, world, which) {
      const user = pick(state.users, which);
      const person = pick(world.users, user.index);
      await enoughCodes(world, user);
      const [acting, another] = [await freshBrowser(world, user), await freshBrowser(world, user)];
      const left = await acting.submit(await acting.get('/account/data'), { confirm: 'yes' }, '/account/deletion');
      assert.equal(left.status, 200, left.text);
      secure(state, user);
      assert.deepEqual([await isSignedIn(acting), await isSignedIn(another)], [false, false]);
      const { username: identifier, password } = person;
      const back = world.newBrowser();
      const first = await back.submit(await back.get('/login'), { identifier, password }, '/login');
      await passSecondFactor(world, user, back, first);
      assert.equal(await isSignedIn(back), false, 'nothing but the way back is open');
      const answer = await back.submit(await back.get('/login/come-back'), {}, '/login/come-back');
      assert.equal(answer.location?.pathname, '/account');
      secure(state, user);
      assert.equal(await isSignedIn(back), true);
    },
  }),
};
