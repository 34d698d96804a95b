import type { Client } from '../store.ts';

/** Whether people must be told that no operator answers for a client: decisions §15. */
export const isUnregistered = ({ registeredBy, acceptedAt }: Pick<Client, 'registeredBy' | 'acceptedAt'>): boolean =>
  registeredBy !== null && acceptedAt === null;

/** The owner of a client as people see it: null where nobody but a stranger says who that is. */
export const ownerShown = (client: Pick<Client, 'owner' | 'registeredBy' | 'acceptedAt'>): string | null =>
  isUnregistered(client) ? null : client.owner;
