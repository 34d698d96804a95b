import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

interface Kind {
  readonly transport?: 'internal' | 'usb';
  readonly hasUserVerification?: boolean;
  readonly isUserVerified?: boolean;
}

interface VirtualAuthenticator {
  /** Whether the person passes the check of the authenticator. */
  answer(present: boolean): Promise<void>;
  credentials(): Promise<readonly { readonly credentialId: string; readonly signCount: number }[]>;
  /** Gives a credential as it is to another authenticator. */
  exported(): Promise<object>;
  import(credential: object): Promise<void>;
  /** Takes the authenticator away. */
  unplug(): Promise<void>;
}

/** An authenticator of the browser, as the DevTools protocol simulates them. */
export async function plugIn(page: Page, kind: Kind = {}): Promise<VirtualAuthenticator> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable', { enableUI: false });
  const { transport = 'internal', hasUserVerification = true, isUserVerified = true } = kind;
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport,
      hasResidentKey: true,
      hasUserVerification,
      isUserVerified,
      automaticPresenceSimulation: true,
    },
  });
  const credentials = async () => (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
  return {
    async answer(present) {
      await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: present });
    },
    credentials,
    async exported() {
      const [credential] = await credentials();
      assert.ok(credential !== undefined);
      return credential;
    },
    async import(credential) {
      await session.send('WebAuthn.addCredential', { authenticatorId, credential: credential as never });
    },
    async unplug() {
      await session.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId });
      await session.detach();
    },
  };
}
