// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAY } from '../../platform/clock.ts';
import { type KnownPicture, whyNoPicture } from './picture-due.ts';

const NONE: KnownPicture = { current: null, made: [], triedHash: null, triedAt: null };

test('decisions §14: a picture comes from an upstream unless somebody here has set or removed one', () => {
  const rows: readonly (readonly [string, Partial<KnownPicture>, ReturnType<typeof whyNoPicture>])[] = [
    ['there is none', {}, undefined],
    ['the person has set one', { current: 'own.jpg' }, 'set here'],
    ['the person has replaced that of the upstream', { current: 'own.jpg', made: ['a.jpg'] }, 'set here'],
    ['the person has removed that of the upstream', { made: ['a.jpg'] }, 'removed here'],
    ['it is that of the upstream', { current: 'a.jpg', made: ['a.jpg'] }, undefined],
    ['it is that of another upstream', { current: 'b.jpg', made: ['a.jpg', 'b.jpg'] }, undefined],
    ['it was tried just now', { triedHash: 'hash', triedAt: 5 }, 'fetched before'],
    ['it was tried a day ago', { triedHash: 'hash', triedAt: 5 - DAY }, undefined],
    ['another one was tried just now', { triedHash: 'other', triedAt: 5 }, undefined],
  ];
  for (const [name, known, expected] of rows)
    assert.equal(whyNoPicture({ ...NONE, ...known }, 'hash', 5), expected, name);
});
