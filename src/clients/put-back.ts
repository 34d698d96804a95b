import { isDeepStrictEqual } from 'node:util';
import { record } from '../audit/audit.ts';
import type { Work } from '../platform/database/database.ts';
import { changedSince, type KeptChange, putBack } from '../platform/kept-changes.ts';
import { type KeptSetting, keptSettings } from '../platform/settings.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { listScopesAt, removeApiScope } from './api-scope-store.ts';
import type { SettingOfApi } from './api-scopes.ts';
import { clientProblem, findResourceOwner, saveClientChange } from './change.ts';
import { CLIENT_SETTINGS } from './settings.ts';
import { type Client, lockClient } from './store.ts';

/** A setting of an app that is put back. */
export type ClientSetting = KeptSetting<typeof CLIENT_SETTINGS> | keyof SettingOfApi;

const NAMES: readonly ClientSetting[] = [...keptSettings(CLIENT_SETTINGS), 'allowedScopes'];

interface AllowedScope {
  readonly id: string;
  readonly clientId: string;
  readonly name: string;
}

/** How an app is without what operators changed. */
export interface ClientBefore {
  readonly client: Client;
  /** The scopes that other apps may request since. */
  readonly addedScopes: readonly AllowedScope[];
  /** What differs now, */
  readonly fields: readonly ClientSetting[];
  /** and what somebody else changed since, what does not fit what somebody else changed, or of which nobody can say what it was. */
  readonly left: readonly ClientSetting[];
}

/** What an API lets the apps request of which changes tell, with the ids of these scopes. */
function* allowedNow(apiId: string, changes: readonly KeptChange[]) {
  const told = changes.flatMap(({ fields }) => [fields['allowedScopes']?.before, fields['allowedScopes']?.after]);
  const clients = new Set(told.flatMap((allowed) => Object.keys(allowed ?? {})));
  const rows: AllowedScope[] = [];
  const allowedScopes: Record<string, readonly string[]> = {};
  for (const clientId of clients) {
    const found = yield* listScopesAt({ apiId, clientId });
    rows.push(...found.map(({ id, name }) => ({ id, clientId, name })));
    allowedScopes[clientId] = found.map(({ name }) => name);
  }
  return { rows, allowedScopes };
}

/** As many of the fields as are a registration together: what somebody else changed since may be at odds with some of them. */
function* fitting(client: Client, wanted: Partial<Client>): Work<Client> {
  const whole: Client = { ...client, ...wanted };
  if (yield* fits(client, whole)) return whole;
  let found = client;
  for (const [name, value] of Object.entries(wanted)) {
    const next: Client = { ...found, [name]: value };
    if (yield* fits(client, next)) found = next;
  }
  return found;
}

function* fits(before: Client, client: Client): Work<boolean> {
  // What was added to a list may be all that somebody else left of it.
  if (client.endpoints.length === 0 || client.grantTypes.length === 0) return false;
  if (clientProblem(client) !== undefined) return false;
  return client.resource === before.resource || (yield* findResourceOwner(client)) === undefined;
}

/** How an app is without some changes: what is put back where they end. A scope that was taken away is not given again. */
export function* clientBefore(client: Client, changes: readonly KeptChange[]): Work<ClientBefore> {
  const { rows, allowedScopes } = yield* allowedNow(client.id, changes);
  const now = { ...client, allowedScopes };
  // Whether it is disabled is decided with the acts on it.
  const { allowedScopes: allowed, status: _, ...wanted } = putBack<Client & SettingOfApi>(now, changes);
  const before = yield* fitting(client, wanted);
  const added = allowed === undefined ? [] : rows.filter(({ clientId, name }) => !allowed[clientId]?.includes(name));
  const since = changedSince(now, changes);
  const isBack = (name: ClientSetting): boolean =>
    name === 'allowedScopes' ? added.length > 0 : !isDeepStrictEqual(before[name], client[name]);
  return {
    client: before,
    addedScopes: added,
    fields: NAMES.filter(isBack),
    left: NAMES.filter((name) => since.includes(name) || (name in wanted && !isBack(name))),
  };
}

/** Puts back what operators changed of an app, inside a unit of work. @returns undefined where there is no such app */
export function* putClientBack(
  id: string,
  changes: readonly KeptChange[],
  origin: Origin,
  now: number,
): Work<ClientBefore | undefined> {
  const client = yield* lockClient({ id });
  if (client === undefined) return undefined;
  const before = yield* clientBefore(client, changes);
  const putsBack = { isFromElsewhere: addsAddresses(changes) };
  yield* saveClientChange(client, before.client, { operator: undefined, origin, now, putsBack });
  for (const scope of before.addedScopes) {
    yield* removeApiScope({ id: scope.id });
    const details = { apiId: id, added: [], removed: [scope.name], putBack: true };
    yield* record({ at: now, type: 'client.api_scopes_changed', origin, clientId: scope.clientId, details });
  }
  return before;
}

/** Whether codes may have gone to another address by such changes: then nobody knows who redeemed them. */
const addsAddresses = (changes: readonly KeptChange[]): boolean =>
  changes.some(({ fields: { redirectUris }, unclear }) => {
    if (unclear?.includes('redirectUris') === true) return true;
    const { before, after } = redirectUris ?? {};
    return Array.isArray(after) && after.some((uri) => !(Array.isArray(before) && before.includes(uri)));
  });

/** With what an app proves that it is the app. */
const CREDENTIALS: readonly ClientSetting[] = ['jwks', 'jwksUri', 'tokenEndpointAuthMethod'];

/** Whether somebody may have had a credential of an app by such changes: then nobody knows who got its tokens for itself. */
export const changesCredentials = (changes: readonly KeptChange[]): boolean =>
  changes.some(({ fields, unclear = [] }) => CREDENTIALS.some((name) => name in fields || unclear.includes(name)));
