// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConnectedGrant } from '../store.ts';
import { mergeGrants } from './merge-grants.ts';

const grant: ConnectedGrant = {
  clientId: '1',
  endpointSet: 'v2',
  name: 'App',
  owner: null,
  picture: null,
  homepageUrl: null,
  host: 'app.example',
  scopes: ['openid', 'email'],
  declined: ['phone'],
  resources: [],
  decidedBy: 'person',
  registeredBy: null,
  access: 'everyone',
  acceptedAt: null,
  connectedAt: 2,
  lastUsedAt: null,
  lastNetwork: null,
};

test('decisions §10: the grants of both sets of endpoints are one connection', () => {
  const other: ConnectedGrant = {
    ...grant,
    endpointSet: 'oidc',
    scopes: ['openid', 'profile', 'social'],
    declined: ['email', 'phone', 'details'],
    resources: ['https://api.example'],
    connectedAt: 1,
    lastUsedAt: 5,
    lastNetwork: '192.0.2.x',
  };
  const { endpointSet: _endpointSet, ...client } = grant;
  assert.deepEqual(mergeGrants([grant, { ...grant, clientId: '2' }, other]), [
    {
      ...client,
      endpoints: ['v2', 'oidc'],
      scopes: ['openid', 'email', 'profile', 'social'],
      declined: ['phone', 'details'],
      resources: ['https://api.example'],
      connectedAt: 1,
      lastUsedAt: 5,
      lastNetwork: '192.0.2.x',
    },
    { ...client, clientId: '2', endpoints: ['v2'] },
  ]);
});
