// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clients } from '../../interop/clients.ts';
import { GROUP_CLIENTS } from '../../interop/group-clients.ts';
import { GROUPS_PAGE, PAGES, printed, printedClients } from '../../interop/printed.ts';
import { blocksOf } from './blocks.ts';

const runs = [
  ...PAGES.map((page) => ({ page, command: 'npm run interop', names: clients.map(({ name }) => name) })),
  {
    page: GROUPS_PAGE,
    command: 'npm run interop:groups',
    names: ['Django settings', ...GROUP_CLIENTS.map(({ name }) => name)],
  },
];

for (const { page, command, names } of runs) {
  test(`each block of ${page} is run as it is printed, or says the version that it was written for`, () => {
    for (const { place, language, notRun, runBy } of blocksOf(page)) {
      if (runBy !== undefined) {
        const client = runBy.startsWith(`${command}, `) ? runBy.slice(command.length + 2) : runBy;
        assert.ok(names.includes(client), `${place}: no client of ${command} is ${client}`);
      } else if (notRun !== undefined) {
        assert.match(notRun, /\btest\/clients\b|written for (the documentation of )?[\w.]+( [\w.]+)* \d/, place);
      } else {
        // commands.test.ts runs these.
        assert.equal(language, 'sh', `${place}: nothing runs it`);
      }
    }
  });
}

test('each client has one block at most, and the reader’s own values replace all that stand for them', () => {
  const names = printedClients();
  assert.equal(new Set(names).size, names.length);
  const own = { issuer: 'http://localhost:1', origin: 'http://localhost:2', clientId: '3', clientSecret: '4' };
  for (const name of names) {
    const text = printed(name, { ...own, upstream: 'http://localhost:5/' });
    // Where the examples of connect-an-app.md name addresses, they stand in comments.
    const code = text.replaceAll(/^ *(\/\/|#|\/?\*).*$/gm, '');
    assert.doesNotMatch(code, /example\.com|the-client-|the-cookie-secret|a-random-value|127\.0\.0\.1/, name);
  }
  assert.throws(() => printed('none', own), /no block/);
});
