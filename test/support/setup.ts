import { makeSetupLink } from '../../src/account-actions/setup/setup.ts';
import { SYSTEM_ORIGIN } from '../../src/platform/validation/origin.ts';
import { withData } from './forged-token.ts';
import type { TestServer } from './server.ts';

/** The secret of a link with which the first owner makes their account, as the command on the server makes it. */
export const setupLink = (server: Pick<TestServer, 'environment' | 'now'>): Promise<string> =>
  withData(server, (core) => makeSetupLink(core, SYSTEM_ORIGIN));
