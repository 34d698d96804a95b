// A web app that signs people in with oauth4webapi, with a separate call for each step of the protocol.
//
//   npm install oauth4webapi express express-session
//   ISSUER=https://id.example.com CLIENT_ID=… CLIENT_SECRET=… PORT=8080 node oauth4webapi.js
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import express from 'express';
import session from 'express-session';
import * as oauth from 'oauth4webapi';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT } = process.env;
const APP = `http://localhost:${PORT}`;

// Allow requests without TLS only on this machine.
const options = { [oauth.allowInsecureRequests]: ISSUER.startsWith('http://localhost') };
const client = { client_id: CLIENT_ID };
const secret = oauth.ClientSecretBasic(CLIENT_SECRET);
// The discovery document names all endpoints.
const issuer = await oauth.processDiscoveryResponse(
  new URL(ISSUER),
  await oauth.discoveryRequest(new URL(ISSUER), options),
);

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
  const verifier = oauth.generateRandomCodeVerifier();
  const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()];
  // Keep the expected values in this browser's session.
  req.session.checks = { verifier, state, nonce };
  const address = new URL(issuer.authorization_endpoint);
  address.search = new URLSearchParams({
    response_type: 'code',
    client_id: CLIENT_ID,
    redirect_uri: `${APP}/callback`,
    scope: 'openid profile email',
    state,
    nonce,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString();
  res.redirect(address.href);
});

app.get('/callback', async (req, res) => {
  // Accept the response only in the browser that started the sign-in.
  if (!req.session.checks) return res.redirect('/login');
  const { verifier, state, nonce } = req.session.checks;
  const answer = oauth.validateAuthResponse(issuer, client, new URL(req.originalUrl, APP), state);
  const response = await oauth.authorizationCodeGrantRequest(
    issuer,
    client,
    secret,
    answer,
    `${APP}/callback`,
    verifier,
    options,
  );
  const checks = { expectedNonce: nonce, requireIdToken: true };
  const tokens = await oauth.processAuthorizationCodeResponse(issuer, client, response, checks);
  // A new session id prevents session fixation.
  await promisify(req.session.regenerate).call(req.session);
  req.session.userId = oauth.getValidatedIdTokenClaims(tokens).sub;
  keep(req.session, tokens);
  res.redirect('/');
});

app.get('/profile', async (req, res) => {
  if (!req.session.tokens) return res.redirect('/login');
  const response = await oauth.userInfoRequest(issuer, client, await freshAccessToken(req.session), options);
  res.json(await oauth.processUserInfoResponse(issuer, client, req.session.userId, response));
});

// A POST: other sites cannot send it with a `lax` cookie.
app.post('/logout', async (req, res) => {
  const address = new URL(issuer.end_session_endpoint);
  address.search = new URLSearchParams({
    client_id: CLIENT_ID,
    post_logout_redirect_uri: `${APP}/`,
    ...(req.session.tokens && { id_token_hint: req.session.tokens.id_token }),
  }).toString();
  await promisify(req.session.destroy).call(req.session);
  res.redirect(303, address.href);
});

// Denied, revoked or banned: delete the tokens. Other errors leave the session as it is.
app.use(async (error, req, res, next) => {
  const refused = ['access_denied', 'invalid_grant'].includes(error.error);
  if (!refused && !(error instanceof oauth.WWWAuthenticateChallengeError)) return next(error);
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
    const { refresh_token } = session.tokens;
    const response = await oauth.refreshTokenGrantRequest(issuer, client, secret, refresh_token, options);
    keep(session, await oauth.processRefreshTokenResponse(issuer, client, response));
  }
  return session.tokens.access_token;
}

app.listen(PORT, (error) => {
  if (error) throw error;
  console.log(`Listening at ${APP}`);
});
