import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { newUser, PASSWORD, tokensFor, userinfo } from '../../support/flow.ts';
import { colorIn, landscape, png } from '../../support/images.ts';
import { fileBelow, personsPicture } from '../in-page.ts';
import { appClient, press, type Stage, signIn, textOf, visit } from '../stage.ts';

/** Noise is as large as it can be: a row of each picture begins with the number of its filter. */
function noise(side: number): Buffer {
  const data = randomBytes((1 + side * 3) * side);
  for (let row = 0; row < side; row++) data[row * (1 + side * 3)] = 0;
  return png(side, side, { data });
}

const choose = (page: Page, buffer: Buffer) =>
  page.setInputFiles('#picture', { name: 'me.png', mimeType: 'image/png', buffer });
const use = (page: Page) => press(page.getByRole('button', { name: 'Use this picture' }));

export function pictureCases(theStage: () => Stage): void {
  test('a picture that is too large is made smaller by the page, is seen there, and is what UserInfo names', async () => {
    const stage = theStage();
    const user = await newUser(stage.server);
    const tokens = await tokensFor(stage.server, await appClient(stage), user);
    await visit(stage, {}, async (page) => {
      await page.goto(`${stage.server.baseUrl}/login`);
      await signIn(page, user.username, PASSWORD);
      await page.goto(`${stage.server.baseUrl}/account?row=change-picture`);
      const large = noise(610);
      assert.ok(large.length > 1024 * 1024);
      await choose(page, large);
      await fileBelow(page, '#picture', 1024 * 1024);
      await use(page);
      const { address, width } = await personsPicture(page);
      assert.equal(width, 512);
      const { baseUrl, path } = (await userinfo(stage.server, tokens.access_token)).body.user.avatar;
      assert.equal(address, baseUrl + path);
    });
  });

  test('the person sees the picture before it is sent, and chooses the square of it that is used, by keys too', async () => {
    const stage = theStage();
    const user = await newUser(stage.server);
    await visit(stage, {}, async (page) => {
      await page.goto(`${stage.server.baseUrl}/login`);
      await signIn(page, user.username, PASSWORD);
      const used = async (): Promise<Uint8Array> =>
        new Uint8Array(await (await fetch((await personsPicture(page)).address)).arrayBuffer());
      await page.goto(`${stage.server.baseUrl}/account?row=change-picture`);
      assert.equal(await page.locator('.crop').isVisible(), false);
      await choose(page, Buffer.from('no picture'));
      assert.equal(await page.locator('.crop').isVisible(), false);
      await choose(page, await landscape().png());
      await page.getByRole('img', { name: 'Preview of your picture' }).waitFor();
      await use(page);
      assert.equal(await colorIn(await used(), 90, 80), 'blue', 'the middle, where nothing was chosen');
      await page.goto(`${stage.server.baseUrl}/account?row=change-picture`);
      await choose(page, await landscape().png());
      await page.getByRole('img', { name: 'Preview of your picture' }).waitFor();
      await page.getByLabel('From left to right').focus();
      await page.keyboard.press('Home');
      await use(page);
      assert.equal(await colorIn(await used(), 90, 80), 'red', 'the left end');
    });
  });

  test('without script: what is too large is answered with a page that says so, and what is not is taken', async () => {
    const stage = theStage();
    const user = await newUser(stage.server);
    await visit(stage, { javaScriptEnabled: false }, async (page) => {
      await page.goto(`${stage.server.baseUrl}/login`);
      await signIn(page, user.username, PASSWORD);
      await page.goto(`${stage.server.baseUrl}/account?row=change-picture`);
      // Nine times what is taken: the server answers before it has all, and the browser must see the answer.
      await choose(page, Buffer.concat([noise(610), Buffer.alloc(8 * 1024 * 1024)]));
      await use(page);
      assert.match(await textOf(page.locator('#picture-note')), /larger than 1 MB/);
      await choose(page, await landscape().png());
      await use(page);
      assert.equal((await personsPicture(page)).width, 100);
      await page.click('#change-picture > summary');
      await page.click('#change-picture .confirm > summary');
      await press(page.getByRole('button', { name: 'Yes, remove the picture' }));
      assert.match((await personsPicture(page)).address, /\.svg$/);
    });
  });
}
