import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { admin, newUser, PASSWORD, type TestUser } from '../../support/flow.ts';
import { mailsTo } from '../../support/mail.ts';
import { query } from '../../support/outcome.ts';
import { newPasskey } from '../../support/passkeys.ts';
import { newestMail } from '../../support/recovery.ts';
import { enroll, giveRecoveryCodes } from '../../support/second-factor.ts';
import { openMailStage } from '../people-pages.ts';
import { appClient, press, requestUrl, type Stage, signIn, submit, textOf, visit } from '../stage.ts';

const MINUTE = 60_000;

/** A person at a page of the server. */
interface Visit {
  readonly page: Page;
  readonly stage: Stage;
  readonly kind: string;
}

const open = ({ page, stage }: Visit, path: string) => page.goto(stage.server.baseUrl + path);
const heading = ({ page }: Visit): Promise<string> => textOf(page.locator('h1'));

async function signedIn(at: Visit): Promise<TestUser> {
  const user = await newUser(at.stage.server);
  await open(at, '/login');
  await signIn(at.page, user.username, PASSWORD);
  await at.page.waitForURL('**/account');
  return user;
}

/** What people meet when something goes wrong, with script and without. The server is one of their own: they move its clock. */
export function troubleCases(theStage: () => Stage): void {
  describe('when something goes wrong', { concurrency: 1 }, () => {
    let stage: Stage | undefined;
    before(async () => {
      stage = await openMailStage(theStage().browser);
    });
    after(() => stage?.close());

    for (const javaScriptEnabled of [true, false]) {
      const kind = javaScriptEnabled ? 'with script' : 'without script';
      const walk = (name: string, work: (at: Visit) => Promise<void>) =>
        test(`${name}, ${kind}`, () => {
          const opened = stage ?? assert.fail('the stage is not open');
          return visit(opened, { javaScriptEnabled }, (page) => work({ page, stage: opened, kind }));
        });

      walk('a proof names the act that it is for, and can be canceled', async (at) => {
        await signedIn(at);
        at.stage.server.advance(11 * MINUTE);
        for (const [next, title, back] of [
          [
            'authenticator',
            'Confirm it is you to set up an authenticator app',
            '/account/security?row=two-step#two-step',
          ],
          ['username', 'Confirm it is you to change your username', '/account?row=change-username#change-username'],
          ['export', 'Confirm it is you to get a copy of your data', '/account/data'],
        ] as const) {
          await open(at, `/account/confirm?next=${next}`);
          assert.equal(await heading(at), title);
          await press(at.page.getByRole('link', { name: 'Cancel' }));
          assert.equal(at.page.url(), at.stage.server.baseUrl + back);
        }
      });

      walk('who has lost the passkey that proves them gets in again by recovery', async (at) => {
        const {
          page,
          stage: { server },
        } = at;
        const user = await newUser(server);
        await newPasskey(server, user.id);
        server.advance(MINUTE);
        await open(at, '/login');
        await signIn(page, user.username, PASSWORD);
        await open(at, '/account/security/authenticator');
        assert.equal(await heading(at), 'Confirm it is you to set up an authenticator app');
        assert.match(await textOf(page.locator('main')), /Is your passkey on another device\?.*Lost your passkey\?/s);
        assert.equal(await page.locator('[name=current]').count(), 0, 'a password does not stand in for a passkey');
        await press(page.getByRole('link', { name: 'Recover your account' }));
        assert.equal(new URL(page.url()).pathname, '/recover');
        assert.equal(await page.inputValue('#identifier'), user.username);
      });

      walk('a session that ended in a form: why is said, and what was typed comes back to its owner', async (at) => {
        const { page, stage } = at;
        const user = await signedIn(at);
        await open(at, '/account?row=change-name');
        await page.fill('#about', 'Writes programs.');
        await admin(stage.server, 'DELETE', `/users/${user.id}/sessions`);
        await press(page.getByRole('button', { name: 'Save “Name”' }));
        assert.equal(new URL(page.url()).pathname, '/login');
        assert.match(await textOf(page.locator('main')), /You were signed out, so nothing was saved yet/);
        await signIn(page, user.username, PASSWORD);
        assert.equal(new URL(page.url()).pathname, '/account');
        assert.match(await textOf(page.locator('main')), /This is what you typed before. It is not saved yet/);
        assert.equal(await page.inputValue('#about'), 'Writes programs.');
        await press(page.getByRole('button', { name: 'Save “Name”' }));
        assert.equal((await admin(stage.server, 'GET', `/users/${user.id}`)).body.about, 'Writes programs.');
      });

      walk('another person who signed in meanwhile gets nothing of a form, and its owner gets it back', async (at) => {
        const { page, stage } = at;
        const [first, second] = [await signedIn(at), await newUser(stage.server)];
        await open(at, '/account?row=change-name');
        await page.fill('#about', 'Only mine.');
        const tab = await page.context().newPage();
        const enter = async (user: TestUser) => {
          await tab.goto(`${stage.server.baseUrl}/account`);
          await press(tab.getByRole('button', { name: 'Sign out', exact: true }));
          await signIn(tab, user.username, PASSWORD);
        };
        await enter(second);
        await press(page.getByRole('button', { name: 'Save “Name”' }));
        assert.match(await textOf(page.locator('main')), new RegExp(`now signed in as .*${second.username}`));
        await press(page.getByRole('link', { name: 'Open the page again' }));
        assert.equal(await page.inputValue('#about'), '');
        await enter(first);
        assert.equal(new URL(tab.url()).pathname, '/account');
        assert.equal(await tab.inputValue('#about'), 'Only mine.');
        await tab.close();
        for (const { id } of [first, second]) {
          assert.equal((await admin(stage.server, 'GET', `/users/${id}`)).body.about, '');
        }
      });

      walk('after coming back, a recovery and an invitation, the account says what holds now', async (at) => {
        const { page, stage } = at;
        const { server } = stage;
        const user = await newUser(server, { emailVerified: true });
        await open(at, '/login');
        await signIn(page, user.username, PASSWORD);
        await open(at, '/account/data?row=deletion');
        await page.check('#confirm');
        await press(page.getByRole('button', { name: 'Delete account' }));
        await press(page.getByRole('link', { name: 'Sign in' }));
        await signIn(page, user.username, PASSWORD);
        await submit(page);
        assert.match(await textOf(page.locator('.notice.done')), /Your account is kept/);
        await page.reload();
        assert.equal(await page.locator('.notice.done').count(), 0, 'once');

        await open(at, '/recover');
        await submit(page);
        await server.sendRequestedMail();
        await page.goto((await newestMail(server, `${user.username}@example.com`, 'recovery')).link ?? '');
        await page.fill('#password', 'another good password');
        await submit(page);
        assert.match(await textOf(page.locator('.notice.done')), /Your new password is set/);

        const name = `guild-${javaScriptEnabled ? 'one' : 'two'}`;
        const { id } = (await admin(server, 'POST', '/organizations', { name, domain: 'guild.example' })).body;
        await page.goto((await admin(server, 'POST', '/invitations', { organizationId: id })).body.link);
        await submit(page);
        // A link by mail is no fresh proof of who has a password now.
        await page.fill('#current', 'another good password');
        await submit(page);
        await submit(page);
        assert.equal(await heading(at), `You are now a member of ${name}`);
        await press(page.getByRole('link', { name: 'See your membership' }));
      });

      walk('a copy that is being made is followed in place, or looked at again, and the focus stays', async (at) => {
        const { page, stage } = at;
        const user = await signedIn(at);
        if (javaScriptEnabled) await page.clock.install();
        await open(at, '/account/data/export');
        await submit(page);
        await stage.server.makeExports();
        const read = 'SELECT state, pieces FROM data_export WHERE account_id = ?';
        const [made] = await query(stage.server, read, user.id);
        const put = (state: unknown, pieces: unknown) => {
          const set = 'UPDATE data_export SET state = ?, pieces = ?, due_at = ? WHERE account_id = ?';
          return query(stage.server, set, String(state), Number(pieces), Number.MAX_SAFE_INTEGER, user.id);
        };
        await put('waiting', 1);
        await open(at, '/account/data/export');
        const check = page.getByRole('link', { name: 'Check again' });
        await press(check);
        const bar = page.locator('progress');
        assert.equal(await bar.getAttribute('value'), '1');
        if (!javaScriptEnabled) {
          await put(made?.['state'], made?.['pieces']);
          await press(check);
          assert.equal(await page.getByRole('button', { name: 'Download your data' }).count(), 1);
          return;
        }
        await put('waiting', 3);
        await check.focus();
        await page.clock.runFor(2_000);
        await page.getByText(/^3 of 5 parts are done/).waitFor();
        assert.equal(await bar.getAttribute('value'), '3');
        await put(made?.['state'], made?.['pieces']);
        await page.clock.runFor(30_000);
        const download = page.getByRole('button', { name: 'Download your data' });
        await download.waitFor();
        assert.equal(await textOf(page.locator('[data-follow] [role=status]')), 'Your copy is ready');
        assert.equal(await textOf(page.locator(':focus')), 'Check again');
        await page.keyboard.press('Shift+Tab');
        assert.equal(await check.count(), 0, 'the link goes when it has lost the focus');
        const [file] = await Promise.all([page.waitForEvent('download'), download.click()]);
        assert.equal(file.suggestedFilename(), 'tessera-data.json');
      });

      walk('an app that asks for another sign-in is named as the one that asks', async (at) => {
        const { page, stage } = at;
        await signedIn(at);
        const client = await appClient(stage, { name: 'Acme Bank' });
        await page.goto(requestUrl(stage, client, { prompt: 'login' }));
        assert.match(await textOf(page.locator('main')), /Acme Bank asks you to sign in again/);
      });

      walk('a name is typed once from the sign-in to the recovery, and its message can be sent again', async (at) => {
        const { page, stage } = at;
        const { server } = stage;
        const user = await newUser(server, { emailVerified: true });
        const address = `${user.username}@example.com`;
        await open(at, '/login');
        await signIn(page, user.username, 'not the password');
        await press(page.getByRole('link', { name: 'Forgot your password?' }));
        assert.equal(await page.inputValue('#identifier'), user.username);
        await submit(page);
        assert.match(await textOf(page.locator('main')), /This server sends no mail. Open the mailbox/);
        await server.sendRequestedMail();
        const sent = async () => (await mailsTo(server, address)).filter(({ kind }) => kind === 'recovery').length;
        assert.equal(await sent(), 1);
        const resend = page.getByRole('button', { name: 'Send another message' });
        assert.equal(await resend.isVisible(), !javaScriptEnabled, 'a script counts down first');
        if (javaScriptEnabled) assert.match(await textOf(page.locator('[data-text]')), /in \d+ seconds/);
        server.advance(MINUTE);
        await page.reload();
        await press(resend);
        await server.sendRequestedMail();
        assert.equal(await sent(), 2);
      });

      walk('a sign-up keeps what was typed, and its code can be sent again', async (at) => {
        const { page, stage } = at;
        const { server } = stage;
        const username = `again.${javaScriptEnabled ? 'js' : 'plain'}`;
        const email = `${username}@example.com`;
        await open(at, '/signup');
        for (const [id, value] of Object.entries({ displayName: 'Grace', username, email, password: PASSWORD })) {
          await page.fill(`#${id}`, value);
        }
        await submit(page);
        assert.match(await textOf(page.locator('main')), /A message is on its way to/);
        await press(page.getByRole('link', { name: 'change what you entered' }));
        assert.equal(await page.inputValue('#username'), username);
        assert.equal(await page.inputValue('#email'), email);
        assert.equal(await page.inputValue('#password'), '');
        server.advance(MINUTE);
        await open(at, '/signup/verify');
        await press(page.getByRole('button', { name: 'Send another code' }));
        const mails = await mailsTo(server, email);
        assert.equal(mails.length, 2);
        await page.fill('#code', mails[0]?.code ?? '');
        await submit(page);
        await page.waitForURL('**/account');
      });

      walk('on the way to an app, a sign-up takes four presses, and a recovery five', async (at) => {
        const { page, stage } = at;
        const { server } = stage;
        const client = await appClient(stage, { name: 'Acme Notes' });
        const request = requestUrl(stage, client, { scope: 'openid' });
        const username = `few.${javaScriptEnabled ? 'js' : 'plain'}`;
        const email = `${username}@example.com`;
        const button = (name: string) => page.getByRole('button', { name, exact: true });
        const fill = async (values: Readonly<Record<string, string>>) => {
          for (const [id, value] of Object.entries(values)) await page.fill(`#${id}`, value);
        };
        const codeOf = async (kind: string) =>
          (await mailsTo(server, email)).find((mail) => mail.kind === kind)?.code ?? assert.fail(kind);

        await page.goto(request);
        await press(page.getByRole('link', { name: 'Create one' }));
        await fill({ displayName: 'Grace', username, email, password: PASSWORD });
        await press(button('Create account'));
        await page.fill('#code', await codeOf('verify address'));
        await press(button('Create account'));
        await press(button('Allow'));
        assert.match(page.url(), /[?&]code=/);

        await page.context().clearCookies();
        await page.goto(requestUrl(stage, client, { scope: 'openid', prompt: 'consent' }));
        await press(page.getByRole('link', { name: 'Forgot your password?' }));
        await page.fill('#identifier', username);
        await submit(page);
        await server.sendRequestedMail();
        await page.fill('#sent_code', await codeOf('recovery'));
        await submit(page);
        await page.fill('#password', 'another long passphrase');
        await submit(page);
        await press(button('Allow'));
        assert.match(page.url(), /[?&]code=/);
      });

      walk('the message to a new address can be sent again', async (at) => {
        const { page, stage } = at;
        const { server } = stage;
        const user = await newUser(server, { emailVerified: true });
        const address = `new.${user.username}@example.com`;
        if (javaScriptEnabled) await page.clock.install();
        await open(at, '/login');
        await signIn(page, user.username, PASSWORD);
        await open(at, '/account/email');
        await page.fill('#email', address);
        await press(page.getByRole('button', { name: 'Send a link and a code' }));
        assert.match(await textOf(page.locator('main')), /on its way to the address.*This server sends no mail/s);
        const resend = page.getByRole('button', { name: 'Send another message' });
        assert.equal(await resend.isVisible(), !javaScriptEnabled, 'a script counts down first');
        const [first] = await mailsTo(server, address);
        server.advance(MINUTE);
        if (javaScriptEnabled) await page.clock.runFor(MINUTE);
        await press(resend);
        const [newest, ...earlier] = await mailsTo(server, address);
        assert.equal(earlier.length, 1);
        await page.fill('#code', first?.code ?? '');
        await press(page.getByRole('button', { name: 'Confirm the address' }));
        assert.match(await textOf(page.locator('#code-note')), /Use the one in the newest message/);
        await page.fill('#code', newest?.code ?? '');
        await press(page.getByRole('button', { name: 'Confirm the address' }));
        assert.match(await textOf(page.locator('.notice.done')), /Your address is changed/);
      });

      walk('recovery codes outlast a reload, can be saved as a file, and are gone once they are kept', async (at) => {
        const {
          page,
          stage: { server },
        } = at;
        const user = await newUser(server);
        await enroll(server, user);
        await open(at, '/login');
        await signIn(page, user.username, PASSWORD);
        await press(page.getByRole('link', { name: 'Use a recovery code instead' }));
        const [code = ''] = await giveRecoveryCodes(server, user);
        await page.fill('#code', code);
        await submit(page);
        assert.match(await textOf(page.locator('main')), /you have 9 left/);
        await press(page.getByRole('link', { name: 'Continue' }));
        await open(at, '/account/security?row=two-step');
        await page.getByText('Get new recovery codes').click();
        await press(page.getByRole('button', { name: 'Yes, make new codes' }));
        const codes = await page.locator('.codes code').allTextContents();
        assert.equal(codes.length, 10);
        await page.reload();
        assert.deepEqual(await page.locator('.codes code').allTextContents(), codes);
        const [file] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('link', { name: 'Download' }).click(),
        ]);
        assert.ok(readFileSync(await file.path(), 'utf8').includes(codes[9] ?? '?'));
        assert.equal(await page.getByRole('button', { name: 'Print' }).isVisible(), javaScriptEnabled);
        await press(page.getByRole('button', { name: 'I have kept them' }));
        assert.match(await textOf(page.locator('#two-step')), /10 of 10 left/);
      });
    }
  });
}
