// What the two apps of Auth.js have in common: the addresses that the driver calls, on Node's HTTP server.
import { createServer } from 'node:http';
import { Readable } from 'node:stream';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT } = process.env;
const APP = `http://localhost:${PORT}`;
const issuer = await (await fetch(`${ISSUER}/.well-known/openid-configuration`)).json();

// Whether the session that is read next is to be refreshed: neither version of the library does that itself.
let isDue = false;

/** The contents of the session, after a refresh if that is due; null ends it. */
export async function refreshed(token) {
  if (!isDue) return token;
  isDue = false;
  const form = { grant_type: 'refresh_token', refresh_token: token.refreshToken };
  const body = new URLSearchParams({ ...form, client_id: CLIENT_ID, client_secret: CLIENT_SECRET });
  const response = await fetch(issuer.token_endpoint, { method: 'POST', body });
  if (!response.ok) return null;
  const { id_token: idToken, refresh_token: refreshToken } = await response.json();
  return { ...token, idToken, refreshToken };
}

export function signOutAddress(token) {
  const address = new URL(issuer.end_session_endpoint);
  address.search = new URLSearchParams({
    post_logout_redirect_uri: `${APP}/`,
    ...(token && { id_token_hint: token.idToken }),
  }).toString();
  return address.href;
}

export const cookiesOf = (request) =>
  Object.fromEntries(
    (request.headers.get('cookie') ?? '')
      .split('; ')
      .map((pair) => [pair.slice(0, pair.indexOf('=')), decodeURIComponent(pair.slice(pair.indexOf('=') + 1))]),
  );

/** Ends the session: all cookies of the app. */
const forget = (request, headers) => {
  for (const name of Object.keys(cookiesOf(request))) headers.append('set-cookie', `${name}=; Path=/; Max-Age=0`);
  return headers;
};

export function serve({ handle, signOut }) {
  async function answer(request) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith('/api/auth/')) return handle(request);
    if (pathname === '/logout') {
      const headers = new Headers({ location: await signOut(request) });
      return new Response(null, { status: 302, headers: forget(request, headers) });
    }
    isDue = pathname === '/refresh';
    const headers = { cookie: request.headers.get('cookie') ?? '' };
    let session;
    let cookies = [];
    try {
      const read = await handle(new Request(`${APP}/api/auth/session`, { headers }));
      session = await read.json();
      cookies = read.headers.getSetCookie();
    } catch {
      session = null;
    }
    const own = new Headers();
    for (const cookie of cookies) own.append('set-cookie', cookie);
    const body = { signedIn: session?.claims !== undefined, idToken: session?.claims };
    return Response.json(body, { headers: body.signedIn ? own : forget(request, own) });
  }

  createServer(async (request, response) => {
    const { method, headers } = request;
    const body = method === 'POST' ? Readable.toWeb(request) : undefined;
    const answered = await answer(new Request(APP + request.url, { method, headers, body, duplex: 'half' }));
    response.writeHead(answered.status, [
      ...[...answered.headers].filter(([name]) => name !== 'set-cookie').flat(),
      ...answered.headers.getSetCookie().flatMap((cookie) => ['set-cookie', cookie]),
    ]);
    response.end(Buffer.from(await answered.arrayBuffer()));
  }).listen(PORT, () => console.log(`Listening at ${APP}`));
}
