// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConnectedGrant } from '../store.ts';
import { mergeGrants } from './merge-grants.ts';

const grant: ConnectedGrant = {
  clientId: '1',
  face: 'contract',
  name: 'App',
  owner: null,
  picture: null,
  homepageUrl: null,
  host: 'app.example',
  scopes: ['openid', 'email'],
  declined: ['phone'],
  resources: [],
  connectedAt: 2,
  lastUsedAt: null,
};

test('decisions §10: the grants of both faces are one connection', () => {
  const other: ConnectedGrant = {
    ...grant,
    face: 'standard',
    scopes: ['openid', 'profile', 'social'],
    declined: ['email', 'phone', 'details'],
    resources: ['https://api.example'],
    connectedAt: 1,
    lastUsedAt: 5,
  };
  const { face: _face, ...client } = grant;
  assert.deepEqual(mergeGrants([grant, { ...grant, clientId: '2' }, other]), [
    {
      ...client,
      faces: ['contract', 'standard'],
      scopes: ['openid', 'email', 'profile', 'social'],
      declined: ['phone', 'details'],
      resources: ['https://api.example'],
      connectedAt: 1,
      lastUsedAt: 5,
    },
    { ...client, clientId: '2', faces: ['contract'] },
  ]);
});
