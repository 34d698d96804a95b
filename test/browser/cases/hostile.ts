import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { newUser, PASSWORD, redeem } from '../../support/flow.ts';
import { loose, overflow, skeleton } from '../in-page.ts';
import { answerAt, appClient, press, requestUrl, type Stage, signIn, submit, visit } from '../stage.ts';

const CORPUS: Readonly<Record<string, string>> = {
  'a script': '<script>alert(1)</script>',
  'an attribute broken out of': '"><img src=x onerror=alert(1)>',
  'an event handler': "' onfocus=alert(1) autofocus x='",
  'an end of the title': '</title><svg onload=alert(1)>',
  'an end of our own elements': '</bdi></h1></main><form action=//x.example>',
  'an end of a field': '</textarea><script>alert(1)</script>',
  'a comment': '<!-- --><style>*{display:none}</style>',
  'text that is escaped already': '&lt;b&gt;&#x3c;i&#x3e;&quot;',
  'a template': '{{constructor.constructor(1)}}<%=1%>',
  'a very long word': 'W'.repeat(64),
  'many marks on one letter': `Z${'\u0351'.repeat(60)}`,
  'letters from right to left': 'مذكرات 123 (אקמה)',
};

/** Characters that the registration refuses; here they reach the database another way. */
const REORDERED = 'Acme \u202egnp.exe\u2066 Ltd';

/** Shows every page that carries texts of an app and of a person. */
async function skeletons(stage: Stage, text: string, database?: (clientId: string) => void): Promise<string[]> {
  const { server } = stage;
  const client = await appClient(stage, database === undefined ? { name: text, owner: text } : { owner: 'Owner' });
  database?.(client.clientId);
  const user = await newUser(server, {
    // The same for everyone, as the page marks the color that is chosen.
    avatarColor: '#1f4e8c',
    displayName: database === undefined ? text : 'Name',
    about: text.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, ''),
    location: 'Place',
    ...(database === undefined && { location: text }),
    socialLinks: [{ platform: 'x', label: database === undefined ? text : 'Label', url: 'https://x.example/a' }],
  });
  const pages: string[] = [];
  await visit(stage, { viewport: { width: 320, height: 640 } }, async (page) => {
    const look = async () => {
      pages.push(await skeleton(page));
      assert.deepEqual(await loose(page, text), []);
      assert.ok((await overflow(page)) <= 0, `too wide: ${page.url()}`);
    };
    await page.goto(requestUrl(stage, client, { scope: 'openid details social', nonce: text, state: text }));
    await look();
    await page.fill('#identifier', text);
    await submit(page);
    assert.equal(await page.inputValue('#identifier'), text.trim());
    await look();
    await signIn(page, user.username, PASSWORD);
    await page.waitForURL('**/consent?*');
    await look();
    await press(page.locator('[value=allow]').first());
    const answer = await answerAt(page, stage);
    assert.equal(answer.get('state'), text);
    await redeem(server, client, answer.get('code') ?? '');
    for (const path of ['/account', '/account/activity', '/account/connections']) {
      await page.goto(server.baseUrl + path);
      await look();
    }
    await page.locator('.confirm summary').first().click();
    await press(page.locator('button.danger').first());
    await look();
    await page.goto(requestUrl(stage, { ...client, redirectUri: `https://x.example/${text}` }, {}));
    await look();
  });
  return pages;
}

export function hostileCases(theStage: () => Stage): void {
  test('HB-05, CN-03: no text of an app or a person changes the document', async (t) => {
    const plain = await skeletons(theStage(), 'Plain');
    assert.equal(plain.length, 8);
    for (const [name, text] of Object.entries(CORPUS)) {
      await t.test(name, async () => assert.deepEqual(await skeletons(theStage(), text), plain));
    }
    await t.test('characters that reorder text', async () => {
      const { dataDir } = theStage().server;
      const rename = (clientId: string) => {
        const database = new DatabaseSync(join(dataDir, 'tessera.db'), { timeout: 5000 });
        database.prepare('UPDATE client SET name = ? WHERE id = ?').run(REORDERED, clientId);
        database.close();
      };
      assert.deepEqual(await skeletons(theStage(), REORDERED, rename), plain);
    });
  });
}
