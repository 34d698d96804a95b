import { hash } from 'node:crypto';

/** What the peer's process and the load generator both derive about its users, so that it need not be transferred. */

const opaque = (name: string): string => hash('sha256', name, 'base64url');

export const accessTokenOf = (set: number, person: number): string => opaque(`access ${set} ${person}`);
export const refreshTokenOf = (person: number): string => opaque(`refresh ${person}`);
export const sessionOf = (person: number): string => opaque(`session ${person}`);
export const grantOf = (person: number): string => opaque(`grant ${person}`);

export const peerClient = (index: number) => ({ id: `client-${index}`, secret: opaque(`secret ${index}`) });

/** The messages to the peer's process. */
export type PeerOrder =
  | { readonly kind: 'seed'; readonly people: number; readonly tokenAnswerBytes: number }
  | { readonly kind: 'tokens'; readonly set: number; readonly count: number };
