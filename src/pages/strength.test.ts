// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type KnownNames, weakPassword } from '../accounts/rules/password.ts';

const { strengthOf } = (await import(new URL('./assets/strength.js', import.meta.url).href)) as {
  strengthOf(password: string, names: KnownNames): string | undefined;
};

const NAMES = { username: 'ada.l', displayName: 'Zoë Lovelace', email: 'countess1815@analytical.example.com' };

test('the browser judges passwords as the server does', () => {
  const parts = [
    '',
    'zoe',
    'ZOË',
    'L0v3l4c3',
    'ecalevol',
    'ada.l',
    'c.o.u.n',
    'tess',
    'quartz ',
    'lamp',
    '1234',
    'dcba',
  ];
  const more = ['aaaa', '!!!', '|$@', '  ', 'qwe', '😀😀', 'ß', '量子の', 'x9', 'tessera'];
  const seen = new Set<string | undefined>();
  for (const first of [...parts, ...more]) {
    for (const second of [...parts, ...more]) {
      for (const third of [...parts, ...more]) {
        const password = first + second + third;
        if ([...password].length < 8) continue;
        const weak = weakPassword(password, NAMES, () => false);
        const strength = strengthOf(password, NAMES);
        seen.add(strength);
        assert.equal(['name', 'simple'].includes(strength ?? '') ? strength : undefined, weak, password);
      }
    }
  }
  assert.deepEqual([...seen].sort(), ['fair', 'good', 'name', 'simple', 'strong']);
});

for (const [password, strength] of [
  ['', undefined],
  ['seven77', 'short'],
  ['aaaaaaaaaaaaaaaa', 'simple'],
  ['lovelace lovelace', 'name'],
  ['xK9#q2v_', 'fair'],
  ['quiet lampshade', 'good'],
  ['quartz lamp river seven', 'strong'],
] as const) {
  test(`the strength of “${password}” is ${strength ?? 'not shown'}`, () => {
    assert.equal(strengthOf(password, NAMES), strength);
  });
}
