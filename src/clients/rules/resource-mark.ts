import type { Client } from '../store.ts';

/*
 * A resource is granted with the mark of its registration: `https://api.example#MARK`. Another client may register the same name later, and nothing
 * that was granted before is for that one. Names have no fragment (RFC 8707 §2). What was registered before there were marks has none.
 */

/** A registered resource as it is granted. */
export const markedResource = ({ resource, resourceMark }: Pick<Client, 'resource' | 'resourceMark'>): string =>
  resourceMark === null ? `${resource}` : `${resource}#${resourceMark}`;

/** The mark of the resource of a client that had another one before, or none. */
export const markFor = ({ id, resource, resourceMark }: Client, before: Client | undefined): string | null =>
  resource === (before?.resource ?? null) ? resourceMark : id;
