import { DEVICE_GRANT } from '../../../clients/rules/registration.ts';
import type { CreateClientRequest } from '../../../clients/schema.ts';

/** The kinds of apps that an operator chooses from, each with the fields that it asks for. */
export const APP_KINDS = {
  web: ['redirectUris'],
  page: ['redirectUris'],
  native: ['redirectUris'],
  service: [],
  device: [],
  api: ['resource'],
} as const satisfies Readonly<Record<string, readonly ('redirectUris' | 'resource')[]>>;
export type AppKind = keyof typeof APP_KINDS;

export const isAppKind = (text: string): text is AppKind => Object.hasOwn(APP_KINDS, text);

/** What was typed of an app. */
export interface TypedRegistration {
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly resource: string;
}

/** The registration of an app of a kind: what the kind needs, and for all else the defaults of the admin API. */
export function registrationOf(
  kind: AppKind,
  { name, redirectUris, resource }: TypedRegistration,
): CreateClientRequest {
  switch (kind) {
    case 'web':
      return { name, redirectUris };
    case 'page':
    case 'native':
      return { name, redirectUris, type: 'public' };
    case 'service':
      return { name, grantTypes: ['client_credentials'] };
    case 'device':
      return { name, type: 'public', grantTypes: [DEVICE_GRANT, 'refresh_token'] };
    case 'api':
      return { name, grantTypes: ['client_credentials'], resource };
  }
}

/** The addresses that were typed, one on each line. */
export const linesOf = (text: string): readonly string[] => [
  ...new Set(
    text
      .split(/\r?\n/)
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
];

/** A redirect URI that was refused, as a trace tells it whole; undefined where it does not. */
export const refusedRedirectUri = (received: string | undefined): string | undefined =>
  /^redirect_uri = (\S{1,500}[^\s…])$/.exec(received ?? '')?.[1];
