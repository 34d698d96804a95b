// Signs people in with Auth.js 5 (@auth/core) and the provider of provider.js, which is printed in docs/how-to/other-clients.md.
import { randomBytes } from 'node:crypto';
import { Auth } from '@auth/core';
import { getToken } from '@auth/core/jwt';
import { provider } from './provider.js';
import { refreshed, serve, signOutAddress } from './server.js';

const secret = randomBytes(32).toString('hex');
const config = {
  basePath: '/api/auth',
  secret,
  trustHost: true,
  providers: [provider],
  callbacks: {
    async jwt({ token, account, profile }) {
      return account
        ? { claims: profile, idToken: account.id_token, refreshToken: account.refresh_token }
        : refreshed(token);
    },
    session: ({ session, token }) => ({ ...session, claims: token.claims }),
  },
};

serve({
  handle: (request) => Auth(request, config),
  signOut: async (request) => signOutAddress(await getToken({ req: request, secret })),
});
