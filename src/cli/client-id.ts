import { noneWithId } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import { type Api, path } from './api.ts';

/** @throws {Failure} `not found` where no app can have the ID */
export function checkedClientId(id: string): string {
  if (!isSnowflake(id)) throw noneWithId('client', id, { command: 'client list', path: 'clients' });
  return id;
}

/** The ID of an app that there is. */
export async function findClientId(api: Api, id: string): Promise<string> {
  await api.get(path`/clients/${checkedClientId(id)}`);
  return id;
}
