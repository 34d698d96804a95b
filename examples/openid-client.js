// A web app that signs people in with openid-client.
//
//   npm install openid-client express express-session
//   ISSUER=https://id.example.com CLIENT_ID=… CLIENT_SECRET=… PORT=8080 node openid-client.js
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import express from 'express';
import session from 'express-session';
import * as oidc from 'openid-client';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT } = process.env;
const APP = `http://localhost:${PORT}`;

// The discovery document names all endpoints.
const issuer = await oidc.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, undefined, {
  // Allow requests without TLS only on this machine.
  execute: ISSUER.startsWith('http://localhost') ? [oidc.allowInsecureRequests] : [],
});

const app = express();
// In production, use a permanent `secret`, keep sessions in a store, and add `secure: true` to the cookie.
app.use(
  session({
    secret: randomBytes(32).toString('hex'),
    resave: false,
    saveUninitialized: false,
    cookie: { sameSite: 'lax' },
  }),
);

app.get('/', (req, res) => {
  res.send(
    req.session.tokens
      ? '<a href="/profile">Profile</a> <form method="post" action="/logout"><button>Sign out</button></form>'
      : '<a href="/login">Sign in</a>',
  );
});

app.get('/login', async (req, res) => {
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
  const [expectedState, expectedNonce] = [oidc.randomState(), oidc.randomNonce()];
  // Keep the expected values in this browser's session.
  req.session.checks = { pkceCodeVerifier, expectedState, expectedNonce };
  const address = oidc.buildAuthorizationUrl(issuer, {
    redirect_uri: `${APP}/callback`,
    scope: 'openid profile email',
    state: expectedState,
    nonce: expectedNonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  });
  res.redirect(address.href);
});

app.get('/callback', async (req, res) => {
  // Accept the response only in the browser that started the sign-in.
  if (!req.session.checks) return res.redirect('/login');
  const tokens = await oidc.authorizationCodeGrant(issuer, new URL(req.originalUrl, APP), req.session.checks);
  // A new session id prevents session fixation.
  await promisify(req.session.regenerate).call(req.session);
  req.session.userId = tokens.claims().sub;
  keep(req.session, tokens);
  res.redirect('/');
});

app.get('/profile', async (req, res) => {
  if (!req.session.tokens) return res.redirect('/login');
  const accessToken = await freshAccessToken(req.session);
  res.json(await oidc.fetchUserInfo(issuer, accessToken, req.session.userId));
});

// A POST: other sites cannot send it with a `lax` cookie.
app.post('/logout', async (req, res) => {
  const address = oidc.buildEndSessionUrl(issuer, {
    post_logout_redirect_uri: `${APP}/`,
    ...(req.session.tokens && { id_token_hint: req.session.tokens.id_token }),
  });
  await promisify(req.session.destroy).call(req.session);
  res.redirect(303, address.href);
});

// Denied, revoked or banned: delete the tokens. Other errors leave the session as it is.
app.use(async (error, req, res, next) => {
  const refused = ['access_denied', 'invalid_grant'].includes(error.error);
  if (!refused && !(error instanceof oidc.WWWAuthenticateChallengeError)) return next(error);
  await promisify(req.session.destroy).call(req.session);
  res.status(403).send('You are signed out. <a href="/login">Sign in</a>');
});

function keep(session, tokens) {
  session.tokens = tokens;
  session.expiresAt = Date.now() + tokens.expires_in * 1000;
}

/** An access token that is valid for another minute at least. Each refresh also returns a new refresh token. */
async function freshAccessToken(session) {
  if (session.expiresAt < Date.now() + 60_000) {
    keep(session, await oidc.refreshTokenGrant(issuer, session.tokens.refresh_token));
  }
  return session.tokens.access_token;
}

app.listen(PORT, (error) => {
  if (error) throw error;
  console.log(`Listening at ${APP}`);
});
