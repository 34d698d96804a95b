import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { admin, authorizeUrl, newClient, standard } from '../../support/flow.ts';
import { newUpstream } from '../../upstreams/people.ts';
import { openStageIn, type Stage, visit } from '../stage.ts';

/** The buttons of a page with a name in them, and how that stands in the text. */
const namesInButtons = (page: Page): Promise<{ text: string; display: string }[]> =>
  page.evaluate(`[...document.querySelectorAll('main :is(a.button, button) bdi')].map((name) => ({
    text: name.closest('a, button').textContent.trim(),
    display: getComputedStyle(name).display,
  }))`);

/** The buttons of other providers. */
export function providerCases(theStage: () => Stage): void {
  test('the name of a provider stands in the text of its button, and the button of the own one is there once', async () => {
    const stage = await openStageIn(theStage().browser);
    const { server } = stage;
    await using one = (await newUpstream(server, { displayName: 'Looms' })).provider;
    const staff = await newUpstream(server, { displayName: 'Analytical Looms and Engines Staff' });
    await using two = staff.provider;
    assert.notEqual(one.issuer, two.issuer);
    const { body } = await admin(server, 'POST', '/organizations', { name: 'engines', domain: 'engines.example' });
    await admin(server, 'PUT', `/organizations/${body.id}/only-upstream`, { upstreamId: staff.id });
    server.advance(11_000);
    const client = standard(await newClient(server, { organizationId: body.id }));
    try {
      await visit(stage, { viewport: { width: 320, height: 640 } }, async (page) => {
        for (const [address, own] of [
          ['/login', ''],
          ['/signup', ''],
          [authorizeUrl(client, { scope: 'openid' }), '’s sign-in'],
        ] as const) {
          await page.goto(server.baseUrl + address);
          const buttons = await namesInButtons(page);
          assert.equal(buttons.length, 2, address);
          for (const { text, display } of buttons) assert.equal(display, 'inline', text);
          const there = buttons.filter(({ text }) => text.includes('Analytical'));
          assert.deepEqual(
            there.map(({ text }) => text),
            [`Continue with Analytical Looms and Engines Staff${own}`],
          );
        }
      });
    } finally {
      await stage.close();
    }
  });
}
