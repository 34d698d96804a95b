// A web app that signs people in with Passport and its OpenID Connect strategy.
//
//   npm install passport passport-openidconnect express express-session
//   ISSUER=https://id.example.com CLIENT_ID=… CLIENT_SECRET=… PORT=8080 node passport-openidconnect.js
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import express from 'express';
import session from 'express-session';
import passport from 'passport';
import OpenIDConnectStrategy from 'passport-openidconnect';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT } = process.env;
const APP = `http://localhost:${PORT}`;

// The strategy does not use discovery, so read the endpoints from the discovery document.
const issuer = await (await fetch(`${ISSUER}/.well-known/openid-configuration`)).json();

passport.use(
  new OpenIDConnectStrategy(
    {
      issuer: issuer.issuer,
      authorizationURL: issuer.authorization_endpoint,
      tokenURL: issuer.token_endpoint,
      userInfoURL: issuer.userinfo_endpoint,
      clientID: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      callbackURL: `${APP}/callback`,
      scope: ['profile', 'email'],
      nonce: true,
    },
    // A callback with these nine parameters makes the strategy request UserInfo too.
    (_issuer, userInfo, _profile, _context, idToken, accessToken, refreshToken, parameters, done) =>
      done(null, {
        profile: userInfo._json,
        tokens: { id_token: idToken, access_token: accessToken, refresh_token: refreshToken },
        expiresAt: Date.now() + parameters.expires_in * 1000,
      }),
  ),
);
// The session holds the whole user. An app with a user database would keep only the id.
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));

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
app.use(passport.session());

app.get('/', (req, res) => {
  res.send(
    req.user
      ? '<a href="/profile">Profile</a> <form method="post" action="/logout"><button>Sign out</button></form>'
      : '<a href="/login">Sign in</a>',
  );
});

app.get('/login', passport.authenticate('openidconnect'));

app.get('/callback', passport.authenticate('openidconnect', { successRedirect: '/', failureRedirect: '/' }));

app.get('/profile', async (req, res) => {
  if (!req.user) return res.redirect('/login');
  const authorization = `Bearer ${await freshAccessToken(req)}`;
  res.json(await answer(await fetch(issuer.userinfo_endpoint, { headers: { authorization } })));
});

// A POST: other sites cannot send it with a `lax` cookie.
app.post('/logout', async (req, res) => {
  const address = new URL(issuer.end_session_endpoint);
  address.search = new URLSearchParams({
    client_id: CLIENT_ID,
    post_logout_redirect_uri: `${APP}/`,
    ...(req.user && { id_token_hint: req.user.tokens.id_token }),
  }).toString();
  await promisify(req.logout).call(req);
  res.redirect(303, address.href);
});

class Refused extends Error {}

// Revoked or banned: delete the tokens. Other errors leave the session as it is.
app.use(async (error, req, res, next) => {
  if (!(error instanceof Refused)) return next(error);
  await promisify(req.logout).call(req);
  res.status(403).send('You are signed out. <a href="/login">Sign in</a>');
});

/** The strategy does not refresh tokens. A refresh is one request, which also returns a new refresh token. */
async function freshAccessToken({ user, session }) {
  if (user.expiresAt < Date.now() + 60_000) {
    const form = { grant_type: 'refresh_token', refresh_token: user.tokens.refresh_token };
    const body = new URLSearchParams({ ...form, client_id: CLIENT_ID, client_secret: CLIENT_SECRET });
    const tokens = await answer(await fetch(issuer.token_endpoint, { method: 'POST', body }));
    Object.assign(user, { tokens, expiresAt: Date.now() + tokens.expires_in * 1000 });
    session.passport.user = user;
  }
  return user.tokens.access_token;
}

async function answer(response) {
  if (response.ok) return response.json();
  const { error } = await response.json();
  throw ['access_denied', 'invalid_grant', 'invalid_token'].includes(error) ? new Refused(error) : new Error(error);
}

app.listen(PORT, (error) => {
  if (error) throw error;
  console.log(`Listening at ${APP}`);
});
