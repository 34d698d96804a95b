// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeIgnored } from './ignored.ts';

test('of thousands of names, ten are told, fifty of each kind are looked at, and all are counted', () => {
  let asked = 0;
  const advice = () => {
    asked++;
    return undefined;
  };
  const names = (kind: string) => Array.from({ length: 3000 }, (_, n) => `${kind}${n}`);
  const told = describeIgnored({
    ...{ scopes: names('scope'), parameters: names('Parameter') },
    ...{ scopeAdvice: advice, parameterAdvice: advice },
  });
  assert.match(told ?? '', /^scope scope0, .*scope scope9, 5990 more$/);
  assert.ok(asked <= 100, String(asked));
});

test('a name that may be confidential is counted, and told only where something is known of it', () => {
  const parameterAdvice = (name: string) => (name === 'codeChallenge' ? 'did you mean code_challenge?' : undefined);
  assert.equal(
    describeIgnored({ parameters: ['codeChallenge', 'My Secret', 'utm_source'], parameterAdvice }),
    'parameter codeChallenge (did you mean code_challenge?), parameter utm_source, 1 more',
  );
  assert.equal(describeIgnored({}), undefined);
});
