import { addIndexes } from '../platform/database/migrations/kinds.ts';

/** By its hash: a wrong secret is looked up, to tell the operator whose it is, and anyone can send one. */
export const secretIndexes = addIndexes({ name: 'client_secret_by_hash', table: 'client_secret', columns: 'hash' });
