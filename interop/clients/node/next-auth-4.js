// Signs people in with NextAuth.js 4 and the provider of provider.js, which is printed in docs/how-to/other-clients.md. Next.js calls the
// same handler, which the package does not export.
import { randomBytes } from 'node:crypto';
import { decode } from 'next-auth/jwt';
import { AuthHandler } from './node_modules/next-auth/core/index.js';
import { provider } from './provider.js';
import { cookiesOf, refreshed, serve, signOutAddress } from './server.js';

process.env.NEXTAUTH_URL = `http://localhost:${process.env.PORT}`;
const secret = randomBytes(32).toString('hex');
const options = {
  secret,
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

async function handle(request) {
  const url = new URL(request.url);
  const [action, providerId] = url.pathname.split('/').slice(3);
  const answer = await AuthHandler({
    options,
    req: {
      action,
      providerId,
      method: request.method,
      origin: url.origin,
      headers: Object.fromEntries(request.headers),
      query: Object.fromEntries(url.searchParams),
      body: Object.fromEntries(new URLSearchParams(await request.text())),
      cookies: cookiesOf(request),
      error: url.searchParams.get('error') ?? undefined,
    },
  });
  const headers = new Headers((answer.headers ?? []).map(({ key, value }) => [key, value]));
  for (const {
    name,
    value,
    options: { expires },
  } of answer.cookies ?? []) {
    const ends = expires === undefined ? '' : `; Expires=${new Date(expires).toUTCString()}`;
    headers.append('set-cookie', `${name}=${encodeURIComponent(value)}; Path=/; HttpOnly; SameSite=Lax${ends}`);
  }
  if (answer.redirect) headers.set('location', answer.redirect);
  const body = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
  return new Response(body, { status: answer.redirect ? 302 : (answer.status ?? 200), headers });
}

serve({
  handle,
  async signOut(request) {
    // The cookie is in parts if it is long.
    const parts = Object.entries(cookiesOf(request)).filter(([name]) => name.startsWith('next-auth.session-token'));
    const token = parts
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([, value]) => value)
      .join('');
    return signOutAddress(await decode({ token, secret }));
  },
});
