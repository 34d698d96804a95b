import type { Client } from '../../clients/store.ts';

/** The name of the field and parameter with the handle of a pending request. */
export const HANDLE = 'request';

/** The name of the field with the id of the client of a pending request, which is still known when the request has expired. */
export const CLIENT = 'app';

/** The hidden fields with a pending request, and with its app for when it has expired. */
export const requestFields = (
  pending: { readonly handle: string; readonly client: Pick<Client, 'id'> } | undefined,
): Readonly<Record<string, string>> =>
  pending === undefined ? {} : { [HANDLE]: pending.handle, [CLIENT]: pending.client.id };
