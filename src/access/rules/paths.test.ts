// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AssignedTo } from '../store.ts';
import { isLostPath, type LostPaths } from './paths.ts';

const person: AssignedTo = { kind: 'person', accountId: '1' };
const group: AssignedTo = { kind: 'group', groupId: '2' };
const organization: AssignedTo = { kind: 'organization', organizationId: '3' };
const LOST: readonly (readonly [string, LostPaths, readonly AssignedTo['kind'][]])[] = [
  ['an assignment', { kind: 'assignment', assignmentIds: new Set(['9']) }, ['person', 'group', 'organization']],
  ['another assignment', { kind: 'assignment', assignmentIds: new Set(['8']) }, []],
  ['a group', { kind: 'group', groupId: '2' }, ['group']],
  ['another group', { kind: 'group', groupId: '3' }, []],
  ['an organization', { kind: 'organization', organizationId: '3', groupIds: new Set() }, ['organization']],
  [
    'an organization with its groups',
    { kind: 'organization', organizationId: '3', groupIds: new Set(['2']) },
    ['group', 'organization'],
  ],
  ['another organization', { kind: 'organization', organizationId: '2', groupIds: new Set(['3']) }, []],
];

for (const [name, lost, kinds] of LOST) {
  test(`decisions §12: who loses ${name} loses the paths by it`, () => {
    const ended = [person, group, organization].filter((to) => isLostPath({ assignmentId: '9', to }, lost));
    assert.deepEqual(
      ended.map(({ kind }) => kind),
      kinds,
    );
  });
}
