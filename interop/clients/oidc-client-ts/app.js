// Signs people in with oidc-client-ts as a public client. The library runs outside a browser here: a navigator of three lines
// stands for the tab, and the tokens are kept in memory. test/clients/single-page.test.ts runs it in a browser.
import { createServer } from 'node:http';
import { ErrorResponse, InMemoryWebStorage, UserManager, WebStorageStateStore } from 'oidc-client-ts';

const { ISSUER, CLIENT_ID, PORT } = process.env;
const APP = `http://localhost:${PORT}`;

// Where the library would send the tab.
let sentTo = '';
const navigator = {
  prepare: async () => ({
    navigate: async ({ url }) => {
      sentTo = url;
    },
    close() {},
  }),
  callback: async () => {},
};
const store = () => new WebStorageStateStore({ store: new InMemoryWebStorage() });

const manager = new UserManager(
  {
    authority: ISSUER,
    client_id: CLIENT_ID,
    redirect_uri: `${APP}/callback`,
    post_logout_redirect_uri: `${APP}/`,
    scope: 'openid profile email',
    loadUserInfo: true,
    automaticSilentRenew: false,
    userStore: store(),
    stateStore: store(),
  },
  navigator,
);

const pages = {
  async '/'() {
    const user = await manager.getUser();
    // The library has one profile, with the claims of the ID token and of UserInfo; the subject is in both.
    return { signedIn: user !== null, ...(user && { idToken: { sub: user.profile.sub } }) };
  },
  async '/login'() {
    await manager.signinRedirect();
    return sentTo;
  },
  async '/callback'(url) {
    await manager.signinRedirectCallback(url);
    return '/';
  },
  // The profile: the ID token's claims, completed from UserInfo at sign-in and at each refresh.
  '/profile': async () => (await manager.getUser())?.profile ?? '/login',
  async '/refresh'() {
    const user = await manager.signinSilent();
    return user?.profile;
  },
  async '/logout'() {
    await manager.signoutRedirect();
    return sentTo;
  },
};

createServer(async (request, response) => {
  const url = new URL(request.url, APP);
  try {
    const answer = await pages[url.pathname]?.(url.href);
    if (typeof answer === 'string') return response.writeHead(302, { location: answer }).end();
    response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? 'Not found'));
  } catch (error) {
    // Refused: forgets the tokens, so that the person signs in again.
    if (error instanceof ErrorResponse) await manager.removeUser();
    response.writeHead(401).end(JSON.stringify({ signedIn: false, reason: String(error) }));
  }
}).listen(PORT, () => console.log(`Listening at ${APP}`));
