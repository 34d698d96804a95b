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

// The issuer's discovery document names every address that is needed.
const issuer = await oidc.discovery(new URL(ISSUER), CLIENT_ID, CLIENT_SECRET, undefined, {
  // Without TLS only on one's own machine.
  execute: ISSUER.startsWith('http://localhost') ? [oidc.allowInsecureRequests] : [],
});

const app = express();
// In production, let `secret` outlive the process, keep sessions in a store, and add `secure: true` to the cookie.
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
  // What the answer has to fit stays with this browser.
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
  // Whoever did not begin here is not signed in here.
  if (!req.session.checks) return res.redirect('/login');
  const tokens = await oidc.authorizationCodeGrant(issuer, new URL(req.originalUrl, APP), req.session.checks);
  // Another session id, so that nobody who knew the one before is signed in as well.
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

// A POST, which another site cannot make with a `lax` cookie.
app.post('/logout', async (req, res) => {
  const address = oidc.buildEndSessionUrl(issuer, {
    post_logout_redirect_uri: `${APP}/`,
    ...(req.session.tokens && { id_token_hint: req.session.tokens.id_token }),
  });
  await promisify(req.session.destroy).call(req.session);
  res.redirect(303, address.href);
});

// Denied, revoked or banned: forget the tokens. Other errors are faults, and leave the session as it is.
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

/** An access token that is good for another minute. Each refresh brings a new refresh token too. */
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
