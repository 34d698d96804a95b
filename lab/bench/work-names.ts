/** Names of the workloads in the results. */
export const WORK = {
  userInfo: 'UserInfo',
  cold: 'UserInfo, tokens never seen before',
  refresh: 'Refresh with rotation',
  oneClient: 'Refresh with rotation, one app',
  scattered: 'Refresh with rotation, people at random',
  authorize: 'Authorize redirect',
  code: 'Code exchange',
  signIn: 'Password sign-in',
  half: 'UserInfo at half its capacity',
  beside: 'UserInfo at half its capacity, beside sign-ins',
  halfApart: 'UserInfo at half its capacity, threads apart',
  besideApart: 'UserInfo at half its capacity, beside sign-ins, threads apart',
  signed: 'Refresh with rotation, by the signature of the ID token',
  signedApart: 'Refresh with rotation, by the signature of the ID token, threads apart',
} as const;

/** Names of our servers in the results. */
export const OWN = {
  sqlite: 'Tessera, SQLite',
  sqlite2: 'Tessera, SQLite, two processes',
  postgres: 'Tessera, PostgreSQL',
  postgres2: 'Tessera, PostgreSQL, two processes',
} as const;

/** Names of the other servers in the results. */
export const PEER = 'node-oidc-provider, in memory';
export const PEER_SQLITE = 'node-oidc-provider, SQLite';
export const BARE = 'bare node:http';
export const SOCKETS = 'bare sockets';
