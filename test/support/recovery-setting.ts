import { requireRecoveryCode } from '../../src/authenticators/recovery-setting-store.ts';
import { withData } from './forged-token.ts';
import type { TestServer } from './server.ts';

/** Lets mail alone no longer open an account, as its owner may choose on the Security page. */
export const requireCode = (server: TestServer, { id }: { readonly id: string }): Promise<boolean> =>
  withData(server, ({ database }) => database.commit(() => requireRecoveryCode({ accountId: id, now: server.now() })));
