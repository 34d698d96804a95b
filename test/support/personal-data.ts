import { deleteDueAccounts } from '../../src/account-actions/personal-data/deletion.ts';
import { withData } from './forged-token.ts';
import type { TestServer } from './server.ts';

/** Deletes the accounts whose time has come by the server's clock, as housekeeping does. */
export const sweepDeletions = (server: TestServer): Promise<void> =>
  withData(server, ({ database, clock }) => deleteDueAccounts({ database, clock }, clock()));
