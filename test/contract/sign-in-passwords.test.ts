// store: SQLite, PostgreSQL with --all
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { agent } from '../support/agent.ts';
import { admin, newSignedInUser, newUser, PASSWORD, signedIn, type TestUser } from '../support/flow.ts';
import { assertStaysHere } from '../support/outcome.ts';
import { startServer } from '../support/server.ts';

// PW-02: 8 to at least 64 characters of any Unicode, verified exactly as typed.

const server = await startServer({ TESSERA_LIMIT_SIGN_IN_ADDRESS: 'off' });
after(() => server.close());

const signIn = async (user: Pick<TestUser, 'username'>, password: string): Promise<number> => {
  const browser = agent(server.baseUrl);
  return (await browser.submit(await browser.get('/login'), { identifier: user.username, password })).status;
};

let names = 0;
async function signUp(password: string): Promise<{ status: number; username: string }> {
  const browser = agent(server.baseUrl);
  const username = `typed${++names}`;
  const fields = { displayName: 'Typist', username, email: `${username}@example.com`, password };
  return { username, status: (await browser.submit(await browser.get('/signup'), fields)).status };
}

/** 18 characters. */
const PHRASE = 'quartz lamp river ';
const LONG = PHRASE.repeat(15).slice(0, 255);

/** A password, and others that a careless implementation would take for it. */
const passwords: Record<string, readonly [password: string, ...twins: string[]]> = {
  'letter case': ['Correct Horse', 'correct horse', 'CORRECT HORSE'],
  'spaces around it': ['  padded  ', 'padded', '  padded', 'padded  ', '\tpadded\t'],
  'spaces within it': ['two  spaces', 'two spaces', 'twospaces'],
  'a composed letter': ['caf\u00e9 noir', 'cafe noir'],
  'a decomposed letter': ['cafe\u0301 noir', 'cafe noir'],
  'compatibility forms': [
    '\ufb01ve \u00bd \u212bhh',
    'five \u00bd \u212bhh',
    '\ufb01ve 1/2 \u212bhh',
    '\ufb01ve \u00bd Ahh',
  ],
  'the Turkish i': ['İstanbul ı', 'istanbul ı', 'İstanbul i'],
  emoji: ['🙂🙃😀😁😂🤣😃😄', '🙂🙃😀😁😂🤣😃', '🙂🙃😀😁😂🤣😃😅'],
  'characters of forms': ['a+b%20c&d=e;f', 'a b c&d=e;f', 'a+b c&d=e;f', 'a+b%20c'],
  markup: ['<b>"\'&amp;</b>', '&lt;b&gt;&quot;&#39;&amp;amp;&lt;/b&gt;'],
  'bidi and zero width': ['\u202equartz lamp\u200b', 'quartz lamp', '\u202equartz lamp'],
  '72 bytes and one more': [`${PHRASE.repeat(4)}y`, PHRASE.repeat(4), `${PHRASE.repeat(4)}z`],
  '256 characters': [`${LONG}q`, LONG, `${LONG}r`],
  '256 characters of four bytes': ['🙂🙃😀😁😂🤣😃😄'.repeat(32), '🙂🙃😀😁😂🤣😃😄'.repeat(31)],
};

for (const [name, [password, ...twins]] of Object.entries(passwords)) {
  test(`PW-02: exactly as typed: ${name}`, async () => {
    const bySelf = await signUp(password);
    assert.equal(bySelf.status, 303, 'sign-up');
    assert.equal(await signIn(bySelf, password), 303, 'after sign-up');
    const byOperator = await newUser(server, { password });
    assert.equal(await signIn(byOperator, password), 303, 'made by an operator');
    const changing = await newUser(server);
    const browser = await signedIn(server, changing);
    const page = await browser.get('/account/security');
    const changed = await browser.submit(page, { current: PASSWORD, password }, '/account/password');
    assert.equal(changed.status, 200, 'changed');
    assert.equal(await signIn(changing, password), 303, 'after the change');
    for (const twin of twins) assert.equal(await signIn(bySelf, twin), 401, JSON.stringify(twin));
  });
}

for (const [name, password] of [
  ['seven characters', 'seven77'],
  ['seven characters of four bytes', '😀'.repeat(7)],
  ['257 characters', 'x'.repeat(257)],
  ['a NUL', 'before\0after'],
  ['control characters', 'tab\tand\x1bescape'],
  ['line breaks', 'line\r\nbreaks'],
] as const) {
  test(`PW-02: ${name} are refused wherever a password is set`, async () => {
    assert.equal((await signUp(password)).status, 400);
    const user = await newUser(server);
    const changed = await admin(server, 'PATCH', `/users/${user.id}`, { password });
    assert.deepEqual([changed.status, changed.body.error], [400, 'invalid_request']);
    const browser = await signedIn(server, user);
    const page = await browser.get('/account/security');
    assertStaysHere(await browser.submit(page, { current: PASSWORD, password }, '/account/password'), 400);
    assert.equal(await signIn(user, PASSWORD), 303);
  });
}

test('RFC 8265 §4.2: letters composed or decomposed, and spaces of any kind, are the same password', async () => {
  const forms = [
    'señor Ångström 2031',
    'señor Ångström 2031'.normalize('NFD'),
    'se\u00f1or\u00a0\u212bngström\u30002031',
  ];
  for (const set of forms) {
    const bySelf = await signUp(set);
    const byOperator = await newUser(server, { password: set });
    for (const typed of forms) {
      for (const user of [bySelf, byOperator])
        assert.equal(await signIn(user, typed), 303, JSON.stringify([set, typed]));
    }
    assert.equal(await signIn(bySelf, 'senor Angstrom 2031'), 401);
  }
});

test('PW-02: no rule asks for a mixture of characters', async () => {
  for (const password of ['quietlampshade', '80351947260', 'ünïcödé', 'correcthorsebatterystaple'].filter(
    (candidate) => [...candidate].length >= 8,
  )) {
    assert.equal((await signUp(password)).status, 303, password);
  }
});

test('PW-04: the password changes with the current one alone, and a wrong one changes nothing', async () => {
  const { user, browser } = await newSignedInUser(server);
  for (const current of ['', 'wrong', PASSWORD.toUpperCase(), `${PASSWORD} `]) {
    const page = await browser.get('/account/security');
    assertStaysHere(await browser.submit(page, { current, password: 'a new passphrase' }, '/account/password'), 400);
  }
  assert.equal(await signIn(user, 'a new passphrase'), 401);
  assert.equal(await signIn(user, PASSWORD), 303);
});

test('PW-03: a password that would be guessed first is refused wherever one is chosen', async () => {
  const { user, browser } = await newSignedInUser(server);
  const common = ['password', 'PassWord123', '12345678', 'qwertyuiop', 'iloveyou1', 'Tessera2026!'];
  const simple = ['abcabcabcabc', '\u00ff'.repeat(12)];
  const named = [user.username.padEnd(8, '1'), `${user.username}@example.com`, user.username.repeat(3)];
  for (const password of [...common, ...simple, ...named]) {
    const edited = await admin(server, 'PATCH', `/users/${user.id}`, { password });
    assert.deepEqual([edited.status, edited.body.error], [400, 'invalid_request'], password);
    assert.match(edited.body.error_description, /^password must be harder to guess: .*A few unrelated words/);
    const page = await browser.get('/account/security');
    const changed = await browser.submit(page, { current: PASSWORD, password }, '/account/password');
    assert.equal(changed.status, 400, password);
    assert.match(changed.text, /This password is (too common|made of your name or ours)|This password repeats itself/);
  }
  assert.equal((await signUp('password1')).status, 400);
  assert.equal((await signUp(`typed${names + 1}!!!`)).status, 400, 'the name itself');
  const made = await admin(server, 'POST', '/users', {
    username: 'common',
    displayName: 'C',
    email: 'c@example.com',
    password: 'letmein123',
  });
  assert.match(made.body.error_description, /^password must be harder to guess/);
  assert.equal(await signIn(user, PASSWORD), 303, 'the one before still holds');
});
