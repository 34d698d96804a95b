// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Method } from './authentication-context.ts';
import type { FactorUse } from './factors.ts';
import {
  acceptedIn,
  acceptedOf,
  afterRecovery,
  afterTakingBack,
  BY_OPERATOR,
  foreignSince,
  type Held,
  type History,
  isKept,
  isOfRecovery,
  keptLine,
  lineage,
  lineOf,
  restoredOf,
  type Span,
  secondFactorOf,
  untilNow,
} from './taking-back.ts';

/*
 * What an account had, by letters: `x` since 10, `y` since 100, `z` since 200. It came, perhaps, into foreign hands at 50.
 */
const SET_UP: Readonly<Record<string, number>> = { x: 10, y: 100, z: 200 };
const named = (name: string, replacedAt = Number.POSITIVE_INFINITY): Held => ({
  setUpAt: SET_UP[name] ?? 0,
  replacedAt,
});
const nameOf = (one: Held): string => Object.keys(SET_UP).find((name) => SET_UP[name] === one.setUpAt) ?? '?';
const names = (line: readonly Held[]): string => line.map(nameOf).join('');
const shown = (held: History): string =>
  [held.present === undefined ? '-' : nameOf(held.present), names(held.earlier), names(held.aside)].join(' ').trim();

const history = (present: Held | undefined, ...earlier: readonly Held[]): History => ({ present, earlier, aside: [] });
const UNCHANGED = history(named('x'));
const RENEWED = history(named('y'), named('x', 100));
const RENEWED_TWICE = history(named('z'), named('x', 100), named('y', 200));
const REMOVED = history(undefined, named('x', 100));
const REMOVED_AND_ADDED = history(named('z'), named('x', 100));
const ADDED = history(named('z'));
/** Renewed, and then reported. */
const SET_ASIDE: History = { present: named('x'), earlier: [], aside: [named('y', 150)] };

const lines: [title: string, held: History, span: Span, line: string][] = [
  ['what it still has', UNCHANGED, untilNow(50), 'x'],
  ['what was renewed, with what it replaced', RENEWED, untilNow(50), 'yx'],
  ['what was renewed twice', RENEWED_TWICE, untilNow(50), 'zyx'],
  ['no more than it had at the beginning', RENEWED_TWICE, untilNow(150), 'zy'],
  ['what it had when its address was changed, whatever came after', RENEWED_TWICE, { since: 50, until: 150 }, 'yx'],
  ['nothing where it was removed', REMOVED, untilNow(50), ''],
  ['what was removed after the change of the address', REMOVED, { since: 50, until: 60 }, 'x'],
  ['nothing from before a removal', REMOVED_AND_ADDED, untilNow(50), 'z'],
  ['what was added', ADDED, untilNow(50), 'z'],
];
for (const [title, held, span, line] of lines) {
  test(`an account that is taken back has had ${title}`, () => assert.equal(names(lineage(held, span)), line));
}

/*
 * Passkeys stand beside each other. One replaces another that was removed after it was set up.
 */
const passkeys: [title: string, held: readonly Held[], span: Span, kept: string][] = [
  ['one from before', [named('x')], untilNow(50), 'x'],
  ['one from before, with another one beside it', [named('y'), named('x')], untilNow(50), 'yx'],
  ['one that was removed after the change', [named('x', 100)], { since: 50, until: 60 }, 'x'],
  ['one that replaced another, and that one', [named('y'), named('x', 150)], untilNow(50), 'yx'],
  ['both where one replaced another before the change', [named('y'), named('x', 150)], { since: 50, until: 160 }, 'yx'],
  ['none that was removed before the change', [named('x', 100)], { since: 50, until: 150 }, ''],
  ['none where one was added after the last was removed', [named('z'), named('x', 150)], untilNow(50), ''],
  ['none that was added since', [named('y')], untilNow(50), ''],
  ['none that was added after the change', [named('z'), named('x', 250)], { since: 50, until: 150 }, 'x'],
];
for (const [title, held, span, kept] of passkeys) {
  test(`of the passkeys of an account count: ${title}`, () => {
    assert.equal(names(keptLine(lineOf(held, span), span)), kept);
  });
}

test('what was set up at the instant itself is not from before it', () => {
  assert.equal(isKept(history({ setUpAt: 50, replacedAt: Number.POSITIVE_INFINITY }), untilNow(50)), false);
  assert.ok(isKept(history({ setUpAt: 49, replacedAt: Number.POSITIVE_INFINITY }), untilNow(50)));
});

test('what was set aside is accepted, unless it was set up after the change that is undone', () => {
  assert.equal(names(acceptedIn(SET_ASIDE, untilNow(50))), 'xy');
  assert.equal(names(acceptedIn(SET_ASIDE, { since: 50, until: 60 })), 'x');
  assert.equal(names(acceptedIn(SET_ASIDE, untilNow(1000))), 'xy');
});

/*
 * The rule, as a table: what was changed × since when × who shows what → what the account has, what is remembered, what is set aside.
 */
const use = (method: Method, factorSince: number): FactorUse => ({ method, factorSince });
const app = (name: string): FactorUse => use('totp', SET_UP[name] ?? 0);
const CODE = use('recovery code', 10);
const PASSKEY = use('passkey', 10);
const NOW = Number.POSITIVE_INFINITY;

const taken: [title: string, held: History, until: number, shown: FactorUse | undefined, afterwards: string][] = [
  // By a report, by an operator, or by the form with a password or a passkey from before.
  ['unchanged', UNCHANGED, NOW, undefined, 'x'],
  ['renewed: the earlier one is back, the new one is set aside', RENEWED, NOW, undefined, 'x  y'],
  ['renewed, and a passkey from before is shown', RENEWED, NOW, PASSKEY, 'x  y'],
  ['renewed twice', RENEWED_TWICE, NOW, undefined, 'x  zy'],
  ['removed: it is not asked for again', REMOVED, NOW, undefined, '- x'],
  ['removed, and another one added: that goes', REMOVED_AND_ADDED, NOW, undefined, '- x'],
  ['added: it goes', ADDED, NOW, undefined, '-'],
  ['renewed, and reported twice', SET_ASIDE, NOW, undefined, 'x  y'],
  // By an undo of a change at 150.
  ['renewed before the change, the new one shown: it stays', RENEWED, 150, app('y'), 'y x'],
  ['renewed before the change, the earlier one shown: that stays', RENEWED, 150, app('x'), 'x'],
  ['renewed before the change, a code shown: the recovery decides', RENEWED, 150, CODE, 'x  y'],
  ['renewed before and after the change, a code shown', RENEWED_TWICE, 150, CODE, 'x  y'],
  ['removed after the change, and shown: it is there again', REMOVED, 60, app('x'), 'x'],
  ['removed after the change, a code shown: it is there again', REMOVED, 60, CODE, 'x'],
  ['removed after the change, and an operator decides: it is there again', REMOVED, 60, undefined, 'x'],
  ['removed before the change, a code shown: it stays removed', REMOVED, 150, CODE, '- x'],
  // By the form: with what the person signed in, they still sign in.
  ['added, and shown', ADDED, 150, app('z'), 'z'],
  // What was set aside by a report is shown in an undo.
  ['set aside, and shown', SET_ASIDE, 150, app('y'), 'y x'],
];
for (const [title, held, until, factor, afterwards] of taken) {
  test(`an account is taken back whose app was ${title}`, () => {
    const span = { since: 50, until };
    const result = afterTakingBack('app', held, { span, shown: factor }, isKept(held, span), 150);
    assert.equal(shown(result), afterwards);
    assert.ok(result.aside.every(({ replacedAt }) => Number.isFinite(replacedAt)));
  });
}

test('new codes are set aside beside an app from before, and go without one', () => {
  const of = (isProtected: boolean) => shown(afterTakingBack('codes', ADDED, { span: untilNow(50) }, isProtected, 300));
  assert.deepEqual([of(true), of(false)], ['-  z', '-']);
});

const recovered: [
  title: string,
  kind: 'app' | 'codes',
  held: History,
  shown: FactorUse | undefined,
  afterwards: string,
][] = [
  ['an app without a renewal stays, whatever was shown', 'app', UNCHANGED, CODE, 'x'],
  ['an app that was added after one was removed stays', 'app', REMOVED_AND_ADDED, CODE, 'z x'],
  ['the app that was shown stays, and the earlier one is remembered', 'app', RENEWED, app('y'), 'y x'],
  ['an earlier app that was shown is there again', 'app', RENEWED_TWICE, app('x'), 'x'],
  [
    'an app that was set aside and is shown stays, and the earlier one is remembered',
    'app',
    SET_ASIDE,
    app('y'),
    'y x',
  ],
  ['an app that was set aside goes where the earlier one is shown', 'app', SET_ASIDE, app('x'), 'x'],
  ['of apps that replaced one another none stays where a code was shown', 'app', RENEWED, CODE, '- yx'],
  ['nor where one was set aside', 'app', SET_ASIDE, CODE, '- x'],
  ['codes of which one was shown stay', 'codes', RENEWED, CODE, 'x'],
  ['codes of which none was shown go', 'codes', UNCHANGED, app('x'), '- x'],
];
for (const [title, kind, held, factor, afterwards] of recovered) {
  test(`after a recovery: ${title}`, () => {
    const result = afterRecovery(kind, held, { span: untilNow(0), shown: factor }, 300);
    assert.equal(shown(result), afterwards);
  });
}

test('an app that was kept against an earlier one is one that replaced it, for the next report', () => {
  const kept = afterRecovery('app', SET_ASIDE, { span: untilNow(0), shown: app('y') }, 300);
  assert.equal(names(lineage(kept, untilNow(50))), 'yx');
});

test('who shows an earlier factor takes back what came since it was renewed', () => {
  const accepted = acceptedIn(RENEWED_TWICE, untilNow(0));
  assert.deepEqual([foreignSince(accepted, app('x')), foreignSince(accepted, app('y'))], [100, 200]);
  assert.equal(foreignSince(accepted, app('z')), Number.POSITIVE_INFINITY);
  assert.equal(foreignSince(accepted, { method: 'mail code', factorSince: null }), Number.POSITIVE_INFINITY);
});

/*
 * What an owner has ended: `x` since 10, which `y` replaced at 150. The account came, perhaps, into foreign hands at 50; its address was
 * changed at 200 at the earliest.
 */
const ended = (how: Partial<Held>): readonly Held[] => [named('y'), { ...named('x', 150), ...how }];
const CHANGE: Span = { since: 50, until: 200 };
const endings: [title: string, held: readonly Held[], span: Span, accepted: string, restored: string][] = [
  ['nobody says how', ended({}), CHANGE, 'yx', 'x'],
  ['it was shown itself', ended({ removedBy: 10 }), CHANGE, 'yx', 'x'],
  ['it was shown itself, and for the change', ended({ removedBy: 10 }), { ...CHANGE, provedBy: 10 }, 'yx', 'x'],
  ['a factor from before was shown', ended({ removedBy: 20 }), CHANGE, 'y', ''],
  ['an operator removed it', ended({ removedBy: BY_OPERATOR }), CHANGE, 'y', ''],
  ['the new one was shown', ended({ removedBy: 100 }), CHANGE, 'y', ''],
  ['the new one was shown for the change', ended({ removedBy: 10 }), { ...CHANGE, provedBy: 100 }, 'y', ''],
  ['one was shown that is gone', ended({ removedBy: 120 }), CHANGE, 'yx', 'x'],
  ['a recovery ended it', ended({ endedAt: 150 }), CHANGE, 'y', ''],
  ['a recovery after the change ended it', ended({ endedAt: 250 }), CHANGE, 'yx', 'x'],
  ['it went after the change, with the new one', ended({ removedBy: 100 }), { since: 50, until: 120 }, 'yx', 'x'],
  ['it went after the change, with one from before', ended({ removedBy: 20 }), { since: 50, until: 120 }, 'y', ''],
  ['an operator removed the only one', [{ ...named('x', 150), removedBy: 0 }], { since: 50, until: 120 }, 'x', ''],
  ['an operator removed another one', [named('x'), { ...named('y', 150), removedBy: 0 }], CHANGE, 'x', ''],
];
for (const [title, held, span, accepted, restored] of endings) {
  test(`a passkey was removed, and ${title}`, () => {
    assert.deepEqual([names(acceptedOf(held, span)), names(restoredOf(held, { span }))], [accepted, restored]);
  });
}

test('who shows a passkey has replaced the older ones with it, and has again what they show', () => {
  const restored = (shown: FactorUse) => names(restoredOf(ended({}), { span: CHANGE, shown }));
  assert.deepEqual([restored(use('passkey', 100)), restored(use('passkey', 10)), restored(CODE)], ['', 'x', 'x']);
  const only = [{ ...named('x', 250), removedBy: BY_OPERATOR }];
  assert.equal(names(restoredOf(only, { span: CHANGE, shown: use('passkey', 10) })), 'x');
});

test('a passkey is of a recovery that ended others and began the span, unless that is taken back', () => {
  const held = ended({ endedAt: 100, replacedAt: 100 });
  const isOf = (span: Span) => isOfRecovery(named('y'), held, span);
  assert.deepEqual([isOf({ since: 100, until: 200 }), isOf({ since: 99, until: 200 })], [true, false]);
  assert.deepEqual([isOf({ since: 100, until: 100 }), isOf(untilNow(100))], [false, false]);
  assert.equal(isOfRecovery(named('y'), ended({}), { since: 100, until: 200 }), false);
});

test('what a recovery ended neither opens an account nor comes back', () => {
  const { earlier } = afterRecovery('codes', RENEWED, { span: untilNow(0) }, 150);
  const held: History = { present: { setUpAt: 150, replacedAt: NOW }, earlier, aside: [] };
  assert.deepEqual(acceptedIn(held, untilNow(50)), [held.present]);
  assert.ok(isKept(held, untilNow(50)), 'the mail alone is still not enough');
  assert.equal(afterTakingBack('codes', held, { span: untilNow(150) }, true, 300).present, undefined);
});

test('a session has shown a second factor, or none', () => {
  const of = (provedBy: Method) => secondFactorOf({ provedBy, provedFactorSince: 10 });
  assert.deepEqual((['totp', 'passkey', 'recovery code'] as const).map(of), [10, 10, 10]);
  assert.deepEqual((['password', 'mail code'] as const).map(of), [null, null]);
});
