import { DEVICE_GRANT } from '../../src/clients/rules/registration.ts';
import { type Publisher, REDIRECT_URI } from '../../test/support/metadata-publisher.ts';
import { METADATA } from '../../test/support/registration.ts';
import { ADMIN_KEY } from '../../test/support/server.ts';
import { readJson, readPage } from './answers.ts';
import { OK, type RegisteredBy } from './history.ts';
import { admin, postJson } from './wire.ts';
import type { Person, World } from './world.ts';

export interface App {
  readonly name: string;
  readonly by: RegisteredBy;
  /** As operators name it. Empty for the app of a metadata document that nobody has allowed yet. */
  id: string;
  /** As it names itself to the server. */
  readonly clientId: string;
  /** Undefined for a public app. */
  readonly secret: string | undefined;
  readonly redirectUri: string;
  /** The domain whose blocking ends it. */
  readonly host?: string;
  /** With which it deletes its registration (RFC 7592). It ends where an operator disables the app. */
  registrationToken?: string | undefined;
  disabled: boolean;
  busy: boolean;
}

/** Where the metadata documents of a stretch are published: blocking the host ends the apps of that stretch alone. */
export interface Publication {
  readonly publisher: Publisher;
  readonly host: string;
}

interface NewApp {
  readonly name: string;
  /** What people and operators see. */
  readonly title: string;
  readonly publication: Publication | undefined;
}

/** With offline_access, no family of the OIDC endpoints ends with its session. */
export const SCOPE = 'openid email offline_access';
// RFC 7636 appendix B.
export const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const PKCE = { code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method: 'S256' };

/** The parameters of an authorization request. */
export const authorizeQuery = ({ clientId, redirectUri, secret }: App) =>
  new URLSearchParams({
    ...{ response_type: 'code', scope: SCOPE, state: 'st4te' },
    ...{ client_id: clientId, redirect_uri: redirectUri },
    ...(secret === undefined && PKCE),
  });

/** How an app says which it is. */
export const credentialsOf = ({ clientId, secret }: App) => ({
  client_id: clientId,
  ...(secret !== undefined && { client_secret: secret }),
});

const NEW = { disabled: false, busy: false };

/** Makes an app, and writes into the history what the checker must know of it. */
export async function makeApp(world: World, by: RegisteredBy, { name, title, publication }: NewApp): Promise<App> {
  if (by === 'itself') return registerItself(world, name, title);
  if (by === 'document') {
    if (publication === undefined) throw new Error('there is no publisher of metadata documents');
    return publish(world, name, title, publication);
  }
  const device = { type: 'public', grantTypes: [DEVICE_GRANT, 'refresh_token'] };
  const change = by === 'device' ? device : { redirectUris: [REDIRECT_URI] };
  const { clientId = '', clientSecret: secret } = await world.make('/clients', { name: title, ...change });
  return { name, by, id: clientId, clientId, secret, redirectUri: REDIRECT_URI, ...NEW };
}

/** RFC 7591 §3. */
async function registerItself(world: World, name: string, title: string): Promise<App> {
  const host = `${title}.example`;
  const redirectUri = `https://${host}/callback`;
  const metadata = { ...METADATA, redirect_uris: [redirectUri], token_endpoint_auth_method: 'client_secret_post' };
  const { outcome, text } = await world.perform(
    { kind: 'register', client: name, by: 'itself', host },
    (wire) => postJson(wire, '/oidc/register', { ...metadata, client_name: title }),
    (answer) => ({ ...readJson(answer), text: answer.text }),
  );
  if (outcome !== OK) throw new Error(`registration: ${outcome}`);
  const { client_id: clientId, client_secret: secret, registration_access_token: registrationToken } = JSON.parse(text);
  return { name, by: 'itself', id: clientId, clientId, secret, redirectUri, host, registrationToken, ...NEW };
}

/** Publishes the metadata document of an app, of which the server learns when somebody uses it. */
async function publish(world: World, name: string, title: string, { publisher, host }: Publication): Promise<App> {
  const path = `/${title}.json`;
  const clientId = `http://${host}:${new URL(publisher.origin).port}${path}`;
  publisher.app(path, { client_id: clientId, client_name: title });
  const answer = async () => ({ status: 200, headers: {}, text: '' });
  await world.perform({ kind: 'register', client: name, by: 'document', host }, answer, readPage);
  return { name, by: 'document', id: '', clientId, secret: undefined, redirectUri: REDIRECT_URI, host, ...NEW };
}

/** Learns what operators call the app of a document, from the connections of a person who allowed it. */
export async function identify(world: World, person: Person, app: App): Promise<void> {
  const path = `/users/${person.id}/connections`;
  const { status, text } = await admin(world.wire(), ADMIN_KEY, 'GET', path);
  if (status !== 200) throw new Error(`${path}: ${status} ${text}`);
  const { items } = JSON.parse(text) as { items: readonly { clientId: string; name: string }[] };
  app.id = items.find(({ name }) => name === world.titleOf(app.name))?.clientId ?? '';
}
