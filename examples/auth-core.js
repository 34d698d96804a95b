// A web app that signs people in with Auth.js (@auth/core), on Node's HTTP server alone.
//
//   npm install @auth/core
//   ISSUER=https://id.example.com CLIENT_ID=… CLIENT_SECRET=… PORT=8080 node auth-core.js
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { Auth, skipCSRFCheck } from '@auth/core';
import { getToken } from '@auth/core/jwt';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT } = process.env;
const APP = `http://localhost:${PORT}`;

// The discovery document names all endpoints.
const issuer = await (await fetch(`${ISSUER}/.well-known/openid-configuration`)).json();

const config = {
  basePath: '/auth',
  // In production, use a permanent secret.
  secret: randomBytes(32).toString('hex'),
  // Safe here: the request URLs below are built from APP, not from the Host header.
  trustHost: true,
  providers: [
    {
      id: 'tessera',
      name: 'Tessera',
      type: 'oidc',
      issuer: ISSUER,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      authorization: { params: { scope: 'openid profile email' } },
      checks: ['pkce', 'state', 'nonce'],
      // Read the profile from UserInfo. The ID token is verified nevertheless.
      idToken: false,
    },
  ],
  callbacks: { jwt, session: ({ session, token }) => ({ ...session, user: token.profile }) },
};

/**
 * Called each time the session is read; returns the contents of the encrypted session cookie. It requests UserInfo every time, so
 * that revoked access ends the session at once: null ends it.
 */
async function jwt({ token, account, profile }) {
  if (account) return keep({ sub: token.sub, profile }, account);
  if (token.expiresAt < Date.now() + 60_000) {
    const form = { grant_type: 'refresh_token', refresh_token: token.refresh_token };
    const body = new URLSearchParams({ ...form, client_id: CLIENT_ID, client_secret: CLIENT_SECRET });
    const response = await fetch(issuer.token_endpoint, { method: 'POST', body });
    if (!response.ok) return response.status < 500 ? null : token;
    token = keep(token, await response.json());
  }
  const headers = { authorization: `Bearer ${token.access_token}` };
  const response = await fetch(issuer.userinfo_endpoint, { headers });
  if (!response.ok) return response.status < 500 ? null : token;
  return { ...token, profile: await response.json() };
}

/** Each refresh also returns a new refresh token. */
const keep = (token, { access_token, refresh_token, id_token, expires_in }) => ({
  ...token,
  ...{ access_token, refresh_token, id_token, expiresAt: Date.now() + expires_in * 1000 },
});

/** Ends the app's session, and then the one at the issuer. */
async function signOut(request) {
  const token = await getToken({ req: request, secret: config.secret });
  const address = new URL(issuer.end_session_endpoint);
  address.search = new URLSearchParams({
    client_id: CLIENT_ID,
    post_logout_redirect_uri: `${APP}/`,
    ...(token && { id_token_hint: token.id_token }),
  }).toString();
  const headers = { cookie: request.headers.get('cookie') ?? '' };
  const own = new Request(`${APP}/auth/signout`, { method: 'POST', headers });
  // This is a POST: other sites cannot send it with the session's `lax` cookie.
  const response = await Auth(own, { ...config, skipCSRFCheck });
  response.headers.set('location', address.href);
  return response;
}

async function home(request) {
  const page = (await getToken({ req: request, secret: config.secret }))
    ? '<a href="/auth/session">Profile</a> <form method="post" action="/logout"><button>Sign out</button></form>'
    : '<a href="/auth/signin">Sign in</a>';
  return new Response(page, { headers: { 'content-type': 'text/html; charset=utf-8' } });
}

async function handle(request) {
  const { pathname } = new URL(request.url);
  if (pathname.startsWith('/auth/')) return Auth(request, config);
  if (pathname === '/logout' && request.method === 'POST') return signOut(request);
  return pathname === '/' ? home(request) : new Response('Not found', { status: 404 });
}

createServer(async (req, res) => {
  try {
    const { method, headers } = req;
    const body = method === 'POST' ? { body: Readable.toWeb(req), duplex: 'half' } : {};
    const response = await handle(new Request(APP + req.url, { method, headers, ...body }));
    res
      .setHeaders(response.headers)
      .writeHead(response.status)
      .end(await response.text());
  } catch (error) {
    console.error(error);
    res.writeHead(500).end();
  }
}).listen(PORT, () => console.log(`Listening at ${APP}`));
