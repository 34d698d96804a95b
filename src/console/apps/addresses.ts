import type { Client } from '../../clients/store.ts';

export const appAddress = (id: string): string => `/console/apps/${id}`;

export function logAddress(id: string, query: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(query).toString();
  return `${appAddress(id)}/log${text === '' ? '' : `?${text}`}`;
}

/** Where the requests of an app are shown, to be sent by hand. */
export const tryAddress = (id: string): string => `${appAddress(id)}/try`;

/** Where an act on an app is confirmed. */
export const appActAddress = (name: string, about: Readonly<Record<string, string>>): string =>
  `/console/apps/${name}?${new URLSearchParams(about)}`;

export const placeOfApp = ({ organizationId, developerId }: Pick<Client, 'organizationId' | 'developerId'>) => ({
  organizationId,
  developerId,
});

/** The list of scope requests that wait. */
export const SCOPE_REQUESTS = '/console/apps/scope-requests';
