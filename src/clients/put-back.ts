import { isDeepStrictEqual } from 'node:util';
import { record } from '../audit/audit.ts';
import type { Work } from '../platform/database/database.ts';
import { fieldsLeft, type KeptChange, openedSince, putBack } from '../platform/kept-changes.ts';
import { type KeptSetting, keptSettings, undoOf } from '../platform/settings.ts';
import { shown } from '../platform/undo.ts';
import type { Origin } from '../platform/validation/origin.ts';
import { listScopesAt, removeApiScope } from './api-scope-store.ts';
import { SETTINGS_OF_API, type SettingOfApi } from './api-scopes.ts';
import { clientProblem, saveClientChange } from './change.ts';
import { CLIENT_SETTINGS } from './settings.ts';
import { type Client, lockClient } from './store.ts';

/** How a change of each setting of an app is undone. */
export const SETTINGS_OF_APP = { ...CLIENT_SETTINGS, ...SETTINGS_OF_API };

/** A setting of an app that is put back. */
export type ClientSetting = KeptSetting<typeof SETTINGS_OF_APP>;

const NAMES: readonly ClientSetting[] = keptSettings(SETTINGS_OF_APP);

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
  /**
   * and what is not wholly what it was before: what was closed stays closed, somebody else changed it since, it does not fit what somebody else
   * changed, or nobody can say what it was. Also what was opened, and is closed again.
   */
  readonly left: readonly ClientSetting[];
  /** Whether anything was opened, whatever became of that. */
  readonly isOpened: boolean;
  /** Whether an active app is disabled, because it is no registration any more: it has no redirect URI, say, or no key. */
  readonly disables: boolean;
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

/**
 * An app with other settings, as far as these are a registration together: what somebody else changed since may be at odds with what is only
 * shown. What was opened ends in any case, and the app is disabled where nothing else is left of it.
 */
function fitting(client: Client, wanted: Partial<Client>): Client {
  const whole: Client = { ...client, ...wanted };
  if (clientProblem(whole) === undefined) return whole;
  const onlyShown = Object.entries(wanted).filter(([name]) => undoOf(SETTINGS_OF_APP, name) === shown);
  let found: Client = {
    ...whole,
    ...Object.fromEntries(onlyShown.map(([name]) => [name, client[name as keyof Client]])),
  };
  // One that was at odds with itself before is so by no change of these.
  const isDisabled = clientProblem(found) !== undefined && clientProblem(client) === undefined;
  if (isDisabled) return { ...whole, status: 'disabled' };
  for (const [name, value] of onlyShown) {
    const next: Client = { ...found, [name]: value };
    if (clientProblem(next) === undefined) found = next;
  }
  return found;
}

/** How an app is without some changes: what is put back where they end. */
export function* clientBefore(client: Client, changes: readonly KeptChange[]): Work<ClientBefore> {
  const { rows, allowedScopes } = yield* allowedNow(client.id, changes);
  const now = { ...client, allowedScopes };
  // Whether it is disabled is decided with the acts on it.
  const {
    allowedScopes: allowed,
    status: _,
    ...wanted
  } = putBack<Client & SettingOfApi>(now, changes, SETTINGS_OF_APP);
  const before = fitting(client, wanted);
  const addedScopes =
    allowed === undefined ? [] : rows.filter(({ clientId, name }) => !allowed[clientId]?.includes(name));
  const staying = new Set<string>(fieldsLeft(now, changes, SETTINGS_OF_APP));
  const opened = openedSince(changes, SETTINGS_OF_APP);
  const isBack = (name: ClientSetting): boolean =>
    name === 'allowedScopes' ? addedScopes.length > 0 : !isDeepStrictEqual(before[name], client[name]);
  return {
    ...{ client: before, addedScopes, isOpened: opened.size > 0 },
    fields: NAMES.filter(isBack),
    left: NAMES.filter((name) => staying.has(name) || (!isBack(name) && (name in wanted || opened.has(name)))),
    disables: before.status !== client.status,
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
  yield* saveClientChange(client, before.client, { operator: undefined, origin, now, putsBack: before });
  for (const scope of before.addedScopes) {
    yield* removeApiScope({ id: scope.id });
    const details = { apiId: id, added: [], removed: [scope.name], putBack: true };
    yield* record({ at: now, type: 'client.api_scopes_changed', origin, clientId: scope.clientId, details });
  }
  return before;
}
