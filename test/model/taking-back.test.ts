// store: SQLite, PostgreSQL with --all
/**
 * Random stories of an owner and a thief, each with the same end: the owner has the account again, with the factors that they have then, and
 * the thief has nothing. A failure prints the shortest story that it could be shrunk to, and its seed:
 *   TESSERA_MODEL_SEED=<seed> TESSERA_MODEL_RUNS=1 node --test test/model/taking-back.test.ts
 */
import { after, test } from 'node:test';
import fc from 'fast-check';
import { SEVERAL, spread, startServer } from '../support/server.ts';
import { WHOLE } from '../support/whole.ts';
import { type Kind, Story } from './taking-back.ts';

const NO_LIMITS = Object.fromEntries(
  ['SIGN_IN_ADDRESS', 'SIGN_IN_ACCOUNT', 'SESSION_ACCOUNT', 'CODE_ACCOUNT', 'TOTP_ACCOUNT', 'RECOVERY_CODE_ACCOUNT']
    .concat(['MAIL_ADDRESS', 'MAIL_RECIPIENT', 'GENERATION_ACCOUNT', 'FORM_ACCOUNT', 'ADDRESS_ACCOUNT'])
    .map((name) => [`TESSERA_LIMIT_${name}`, 'off']),
);
const server = spread(await startServer({ TESSERA_MAILBOX: 'on', ...NO_LIMITS }, SEVERAL));
after(() => server.close());

type Act = (story: Story) => Promise<unknown>;
const OWNER: Readonly<Record<string, Act>> = {
  'the owner renews the app': (story) => story.ownerActs('renew app'),
  'the owner renews the codes': (story) => story.ownerActs('renew codes'),
  'the owner replaces the passkey': (story) => story.ownerActs('replace passkey'),
  'the owner removes what they have beside the password': (story) => story.ownerActs('remove factors'),
  'the owner changes the address': (story) => story.ownerActs('move'),
  'the owner goes back to the first address': (story) => story.ownerActs('go back'),
  'the owner changes the password': (story) => story.ownerActs('new password'),
};
/** Somebody who reads the first mailbox and knows the first password. */
const READER: Readonly<Record<string, Act>> = {
  'a reader reports': (story) => story.readerActs('report'),
  'a reader undoes': (story) => story.readerActs('undo'),
  'a reader recovers': (story) => story.readerActs('recover'),
  'the owner no longer reads the first mailbox': (story) => story.ownerLosesMailbox(),
  'a reader signs in and goes back': (story) => story.readerSignsIn(),
  'who signed in so takes the account by the mailbox': (story) => story.readerTakesBack(),
  'who signed in so adds an app': (story) => story.thiefActs('renew app'),
  'who signed in so adds a passkey': (story) => story.thiefActs('add passkey'),
  'who signed in so changes the address': (story) => story.thiefActs('move'),
  'who signed in so changes the password': (story) => story.thiefActs('new password'),
};
/** Somebody who has a session of the owner, freshly proved, and knows the password. */
const THIEF: Readonly<Record<string, Act>> = {
  'a thief steals the session': (story) => story.stealSession(),
  'the thief renews the app': (story) => story.thiefActs('renew app'),
  'the thief renews the codes': (story) => story.thiefActs('renew codes'),
  'the thief adds a passkey': (story) => story.thiefActs('add passkey'),
  'the thief removes the passkey': (story) => story.thiefActs('remove passkey'),
  'the thief removes the app': (story) => story.thiefActs('remove app'),
  'the thief changes the address': (story) => story.thiefActs('move'),
  'the thief changes the password': (story) => story.thiefActs('new password'),
};

/** Stories that were a way in once, which are told each time. */
const MENDED: readonly (readonly string[])[] = [
  [
    'the owner changes the address',
    'the owner removes what they have beside the password',
    'the owner no longer reads the first mailbox',
    'a reader signs in and goes back',
    'who signed in so adds an app',
    'who signed in so changes the address',
  ],
  [
    'the owner changes the address',
    'the owner removes what they have beside the password',
    'the owner no longer reads the first mailbox',
    'a reader signs in and goes back',
    'who signed in so takes the account by the mailbox',
  ],
  ['the owner replaces the passkey', 'the owner changes the address', 'a reader undoes'],
  [
    'a thief steals the session',
    'the thief changes the address',
    'the thief removes the passkey',
    'the thief removes the app',
  ],
];

const { TESSERA_MODEL_SEED, TESSERA_MODEL_RUNS } = process.env;
const seed = Number(TESSERA_MODEL_SEED ?? 1);
const numRuns = Number(TESSERA_MODEL_RUNS ?? (WHOLE ? 100 : 4));

for (const [whom, others] of Object.entries({ 'a reader of the mail': READER, 'a thief of a session': THIEF })) {
  for (const kind of ['app', 'passkey', 'app and passkey', 'passkey without codes'] satisfies readonly Kind[]) {
    test(`of an owner with ${kind}: they always get the account back, and ${whom} never has it`, async () => {
      const acts: Readonly<Record<string, Act>> = { ...OWNER, ...others };
      // As many of others as of the owner.
      const names = fc.oneof(fc.constantFrom(...Object.keys(OWNER)), fc.constantFrom(...Object.keys(others)));
      const stories = fc.array(names, { minLength: 3, maxLength: 12, size: 'max' });
      const property = fc.asyncProperty(stories, async (story) => {
        const told = await Story.begin(server, kind);
        for (const name of story) await acts[name]?.(told);
        await told.end();
      });
      const examples = MENDED.filter((story) => story.every((name) => name in acts)).map((story): [string[]] => [
        [...story],
      ]);
      const runs = numRuns + examples.length;
      await fc.assert(property, {
        seed,
        numRuns: runs,
        examples,
        interruptAfterTimeLimit: 10 * 60_000,
        endOnFailure: false,
      });
    });
  }
}
