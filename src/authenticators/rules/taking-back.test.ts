// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Method } from './authentication-context.ts';
import {
  foreignSince,
  type Held,
  isContested,
  isKeptSince,
  keptInRecovery,
  keptOf,
  lineage,
  type Span,
  untilNow,
} from './taking-back.ts';

/** What an account had, by names: `x` since 10; `y` since 100, in place of it; `z` since 200, in place of that. */
const until = (setUpAt: number, replacedAt = Number.POSITIVE_INFINITY): Held => ({ setUpAt, replacedAt });
const X = until(10);
const X_Y = [until(10, 100), until(100)];
const X_Y_Z = [until(10, 100), until(100, 200), until(200)];
const X_REMOVED = [until(10, 100)];
const X_REMOVED_Z = [until(10, 100), until(200)];
const Z = until(200);
const names = (line: readonly Held[]): string => line.map(({ setUpAt }) => NAMES[setUpAt]).join('');
const NAMES: Readonly<Record<number, string>> = { 10: 'x', 100: 'y', 200: 'z' };

const lines: [title: string, held: readonly Held[], span: Span, line: string][] = [
  ['what it still has', [X], untilNow(50), 'x'],
  ['what was renewed, with what it replaced', X_Y, untilNow(50), 'yx'],
  ['what was renewed twice', X_Y_Z, untilNow(50), 'zyx'],
  ['no more than it had at the beginning', X_Y_Z, untilNow(150), 'zy'],
  ['what it had when its address was changed, whatever came after', X_Y_Z, { since: 50, until: 150 }, 'yx'],
  ['nothing where it was removed', X_REMOVED, untilNow(50), ''],
  ['what was removed after the change of the address', X_REMOVED, { since: 50, until: 60 }, 'x'],
  ['nothing from before a removal', X_REMOVED_Z, untilNow(50), 'z'],
  ['what was added', [Z], untilNow(50), 'z'],
];
for (const [title, held, span, line] of lines) {
  test(`an account that is taken back has ${title}`, () => assert.equal(names(lineage(held, span)), line));
}

test('what was set up at the instant is not from before it', () => {
  assert.equal(isKeptSince([until(50)], 50), false);
  assert.equal(isContested([until(60), until(50, 60)], 50), false);
  assert.ok(isContested([until(60), until(49, 60)], 50));
});

/*
 * The rule, as a table: what the account had when it came, perhaps, into foreign hands (at 50) × what was changed since × who comes with what.
 * A report and an operator show nothing; an undo shows a code of the span, where the account had one; the form shows that of the session.
 */
const app = (held: Held): { method: Method; factorSince: number } => ({ method: 'totp', factorSince: held.setUpAt });
const CODE = { method: 'recovery code', factorSince: 10 } as const;
const PASSKEY = { method: 'passkey', factorSince: 10 } as const;
type Shown = { readonly method: Method; readonly factorSince: number } | undefined;
const kept: [
  title: string,
  held: readonly Held[],
  until: number,
  shown: Shown,
  isRecovered: boolean,
  afterwards: string,
][] = [
  // By a report or an operator: what was renewed stays until the recovery, which accepts both.
  ['unchanged: it stays', [X], Infinity, undefined, true, 'x'],
  ['renewed, and reported: the new one stays until the recovery', X_Y, Infinity, undefined, true, 'y'],
  ['renewed twice, and reported', X_Y_Z, Infinity, undefined, true, 'z'],
  ['removed, and reported: it is not asked for again', X_REMOVED, Infinity, undefined, true, ''],
  ['removed, and another one added: that goes', X_REMOVED_Z, Infinity, undefined, true, ''],
  ['added, and reported: it goes', [Z], Infinity, undefined, true, ''],
  // By an undo of a change at 150.
  ['renewed before the change, the new one shown: it stays', X_Y, 150, app(until(100)), true, 'y'],
  ['renewed before the change, the earlier one shown: that stays', X_Y, 150, app(X), true, 'x'],
  ['renewed before the change, a code shown: the recovery decides', X_Y, 150, CODE, true, 'y'],
  ['renewed before and after the change, a code shown', X_Y_Z, 150, CODE, true, 'y'],
  ['removed after the change, and shown: it is there again', X_REMOVED, 60, app(X), true, 'x'],
  ['removed after the change, a code shown: it stays removed', X_REMOVED, 60, CODE, true, ''],
  // By the form, without a recovery: what was shown stays, and nothing that may be a thief's.
  ['renewed, and the new one shown in the form', X_Y, 150, app(until(100)), false, 'y'],
  ['added, and shown in the form', [Z], 150, app(Z), false, 'z'],
  ['renewed before the change, a passkey shown in the form: neither stays', X_Y, 150, PASSKEY, false, ''],
  ['renewed after the change, a passkey shown in the form: the earlier one', X_Y, 60, PASSKEY, false, 'x'],
  ['removed, a passkey shown in the form', X_REMOVED, 150, PASSKEY, false, ''],
  ['added, a passkey shown in the form: it goes', [Z], 150, PASSKEY, false, ''],
];
for (const [title, held, end, shown, isRecovered, afterwards] of kept) {
  test(`an app that was ${title}`, () => {
    const span = { since: 50, until: end };
    const line = lineage(held, span);
    const present = held.find(({ replacedAt }) => replacedAt === Infinity);
    const isAsked = isKeptSince(line, span.since);
    const result = keptOf('app', { present, line, isAsked }, { span, shown, isRecovered });
    assert.equal(result === undefined ? '' : names([result]), afterwards);
  });
}

test('new codes stay beside an app from before until the recovery, and codes without one do not', () => {
  const of = (isAsked: boolean) =>
    keptOf('codes', { present: Z, line: [Z], isAsked }, { span: untilNow(50), isRecovered: true });
  assert.deepEqual([of(true), of(false)], [Z, undefined]);
});

const recovered: [title: string, kind: 'app' | 'codes', held: readonly Held[], shown: Shown, afterwards: string][] = [
  ['an app without a renewal stays, whatever was shown', 'app', [X], CODE, 'x'],
  ['the app that was shown stays', 'app', X_Y, app(until(100)), 'y'],
  ['an earlier app that was shown is there again', 'app', X_Y_Z, app(X), 'x'],
  ['of apps that replaced one another none stays where a code was shown', 'app', X_Y, CODE, ''],
  ['codes of which one was shown stay', 'codes', X_Y, CODE, 'x'],
  ['codes of which none was shown go', 'codes', [X], app(X), ''],
];
for (const [title, kind, held, shown, afterwards] of recovered) {
  test(`after a recovery: ${title}`, () => {
    const result = keptInRecovery(kind, lineage(held, untilNow(0)), shown);
    assert.equal(result === undefined ? '' : names([result]), afterwards);
  });
}

test('who shows an earlier factor takes back what came since it was renewed', () => {
  const all = [lineage(X_Y_Z, untilNow(0))];
  assert.equal(foreignSince(all, app(X)), 100);
  assert.equal(foreignSince(all, app(until(100))), 200);
  assert.equal(foreignSince(all, app(Z)), Infinity);
  assert.equal(foreignSince(all, { method: 'mail code', factorSince: null }), Infinity);
});
