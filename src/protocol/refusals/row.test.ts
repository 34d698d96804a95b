// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { masked } from '../../platform/masking.ts';
import { AUTHORIZATION_REFUSALS } from '../authorize/rules/refusals.ts';
import { AUTHENTICATION_REFUSALS } from '../client-authentication/refusals.ts';
import { LOGOUT_REFUSALS } from '../logout/rules/refusals.ts';
import { REGISTRATION_REFUSALS } from '../registration/refusals.ts';
import { INACTIVE_TOKENS } from '../token/refusals/introspection.ts';
import { REFUSALS } from '../token/refusals.ts';
import { USERINFO_REFUSALS } from '../userinfo/refusals.ts';
import { type Catalogue, columnOf } from './row.ts';

const CATALOGUES: Readonly<Record<string, Catalogue>> = {
  AUTHORIZATION_REFUSALS,
  AUTHENTICATION_REFUSALS,
  LOGOUT_REFUSALS,
  REFUSALS,
  REGISTRATION_REFUSALS,
  USERINFO_REFUSALS,
};

/** The words of a catalogue that a reader had to translate, or that said nothing. */
const UNCLEAR =
  /\b(in force|opens nothing|no way back|asked about|Correct what|place that|answered with|what the description)\b/;

for (const [catalogue, rows] of Object.entries({
  ...CATALOGUES,
  INACTIVE_TOKENS: INACTIVE_TOKENS as never as Catalogue,
})) {
  for (const [name, { when, app, operator, example = {} }] of Object.entries(rows)) {
    test(`${catalogue}, ${name}: the response fits RFC 6749 §5.2, and the trace is kept as it is written`, () => {
      if (app !== undefined) {
        const description = columnOf(app.description, example as never);
        assert.match(description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
        assert.doesNotMatch(description, UNCLEAR);
        // A correlation ID is masked, which the trace is found by.
        const plain = description.replaceAll(/[0-9a-f-]{36}/g, 'ID');
        assert.equal(masked(plain), plain);
      }
      const trace = operator.trace && columnOf(operator.trace, example as never);
      for (const [fact, text] of Object.entries(trace ?? {})) {
        if (text === undefined) continue;
        assert.equal(masked(text), text, fact);
        assert.doesNotMatch(text, UNCLEAR, fact);
      }
      assert.match(when, /\.$/);
    });
  }
}

test('the remedy of a trace is a sentence of its own', () => {
  const told = Object.values({ ...CATALOGUES, INACTIVE_TOKENS: INACTIVE_TOKENS as never as Catalogue })
    .flatMap((rows) => Object.values(rows))
    .map(({ operator, example = {} }) => operator.trace && columnOf(operator.trace, example as never).remedy)
    .filter((remedy) => remedy !== undefined);
  // Names of parameters and grants stay as they are written.
  const unclear = told.filter(
    (remedy) =>
      !/^([A-Z]|(password|client_id)\b)/.test(remedy) ||
      /^(?!Let )\w+ (it|that|this)( there)?\b[.,]?( |$)(?!to |at |twice)/i.test(remedy),
  );
  assert.deepEqual(unclear, []);
});

test('each refusal says what to do: to the developer, or to the operator in the trace', () => {
  const silent = Object.values(CATALOGUES).flatMap((rows) =>
    Object.entries(rows).filter(([, { app, operator, example = {} }]) => {
      const trace = operator.trace && columnOf(operator.trace, example as never);
      return trace?.remedy === undefined && !/[:.?] \S/.test(columnOf(app.description, example as never));
    }),
  );
  assert.deepEqual(
    silent.map(([name]) => name),
    [],
  );
});
