import type { FastifyInstance } from 'fastify';
import { nearestText } from '../nearest-text.ts';

/** The paths that a server answers, to tell a wrong method from an unknown path. */
export interface ServedPaths {
  /** The methods of a path, as `Allow` lists them; undefined if it is not served. */
  methodsAt(path: string): string | undefined;
  /**
   * The paths that a client may have meant: with other slashes or letter case, an endpoint that it looked for in another folder, or one
   * word of a call or a page misspelt. None but calls that the API document lists, and pages that people open.
   */
  similarTo(path: string): readonly string[];
  /** What to do instead of a protocol that other servers offer at such a path; undefined for any other path. */
  insteadOf(path: string): string | undefined;
}

/** Longer than the path of any endpoint. */
const LONGEST_COMPARED = 256;

/** The folders of the pages that people open. */
const PAGES = /\/(account|console|device|login|playground|recover|signup)(\/|$)/;
const MOST_SUGGESTED = 3;

/** The endpoints that clients find by their names, and other names for them. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  authorize: 'authorize',
  authorization: 'authorize',
  auth: 'authorize',
  token: 'token',
  tokens: 'token',
  userinfo: 'userinfo',
  introspect: 'introspect',
  introspection: 'introspect',
  revoke: 'revoke',
  revocation: 'revoke',
  logout: 'logout',
  'end-session': 'logout',
  endsession: 'logout',
  'openid-configuration': 'openid-configuration',
  'oauth-authorization-server': 'oauth-authorization-server',
  'jwks.json': 'jwks.json',
  jwks: 'jwks.json',
  certs: 'jwks.json',
  keys: 'jwks.json',
};

const REGISTER =
  'Clients are not registered dynamically: the operator registers them with POST /api/v2/admin/clients, or on the server: tessera client create.';
const SELF_REGISTRATION = 'Apps register themselves at /oidc/register, where the operator allows it.';
const DEVICE =
  'A device begins at /oidc/device_authorization, and its user types the code at /device: see Connect a device in the documentation.';
const PUSHED = 'There are no pushed authorization requests: send the parameters to the authorization endpoint.';

const WITHOUT_PATH = 'The issuer is the base URL itself, with nothing after it, so this document is at';

/** Endpoints that are not offered, or have another path here, by the end of the path. */
const ABSENT: readonly (readonly [RegExp, string])[] = [
  [/^\/\.well-known\/openid-configuration\/./, `${WITHOUT_PATH} /.well-known/openid-configuration.`],
  [/^\/\.well-known\/oauth-authorization-server\/./, `${WITHOUT_PATH} /.well-known/oauth-authorization-server.`],
  [/\/(register|registration)$/, REGISTER],
  [/^\/api\/v1\//, 'This is version 2 of the API: send the request to the same address below /api/v2.'],
  [/\/(device|device\/code|device[-_]authorization|device\/auth)$/, DEVICE],
  [/\/(par|pushed[-_]authorization[-_]request|par\/request)$/, PUSHED],
];

/** Whether a path is that of a route but for one word. A parameter of a route is any word. */
function isMisspelt(parts: readonly string[], url: string): boolean {
  const words = url.split('/').filter((word) => word !== '');
  if (words.length !== parts.length) return false;
  const others = words.flatMap((word, at) => {
    const part = parts[at] ?? '';
    return word.startsWith(':') || word === part ? [] : [[word, part] as const];
  });
  const [other] = others;
  return (
    others.length === 1 && other !== undefined && other[1].length > 3 && nearestText(other[1], [other[0]]) !== undefined
  );
}

/** The folders of the API, which other services do not have. */
const FOLDERS: ReadonlySet<string> = new Set(['api', 'v2']);

/** Whether a path is that of a route without its first folders. */
function lacksFolders(parts: readonly string[], url: string): boolean {
  let at = 0;
  const missing: string[] = [];
  for (const word of url.split('/').filter((part) => part !== '')) {
    if (at < parts.length && (word === parts[at] || word.startsWith(':'))) at++;
    else missing.push(word);
  }
  return at === parts.length && missing.length > 0 && missing.every((word) => FOLDERS.has(word));
}

/** @param app the server, before any route is registered */
export function servedPaths(app: FastifyInstance): ServedPaths {
  const served = new Map<string, { readonly pattern: RegExp; readonly methods: Set<string> }>();
  const documented = new Set<string>();
  /** What may be suggested. */
  const open = new Set<string>();
  app.addHook('onRoute', ({ url, method, schema }) => {
    const pattern = new RegExp(`^${url.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&').replaceAll(/:[^/]+/g, '[^/]+')}$`);
    const { methods } = served.get(url) ?? { methods: new Set() };
    for (const name of [method].flat()) methods.add(name);
    served.set(url, { pattern, methods });
    if (schema?.operationId !== undefined && !url.includes(':')) documented.add(url);
    const isPage = [method].flat().includes('GET') && PAGES.test(url) && !url.includes(':');
    if (schema?.operationId !== undefined || isPage) open.add(url);
  });
  return {
    methodsAt(path) {
      for (const { pattern, methods } of served.values()) {
        if (pattern.test(path)) return [...methods].sort().join(', ');
      }
      return undefined;
    },
    similarTo(path) {
      if (path.length > LONGEST_COMPARED) return [];
      const parts = path
        .toLowerCase()
        .split('/')
        .filter((part) => part !== '');
      const plain = `/${parts.join('/')}`;
      if (documented.has(plain)) return [plain];
      const name = (parts.at(-1) ?? '').replaceAll('_', '-');
      // Strangers look for many paths; only in a folder of the protocol is a similar name a misspelled one.
      const isOfProtocol = /^(oidc|oauth2?|api|connect|\.well-known)$/.test(parts[0] ?? '');
      const known = isOfProtocol ? nearestText(name, Object.keys(ENDPOINTS)) : name;
      const endpoint = known !== undefined && Object.hasOwn(ENDPOINTS, known) ? ENDPOINTS[known] : undefined;
      if (endpoint !== undefined) {
        const named = [...documented].filter((url) => url.endsWith(`/${endpoint}`));
        // The metadata of an endpoint end in its path as well.
        const endpoints = named.filter((url) => !url.startsWith('/.well-known/'));
        return endpoints.length === 0 ? named : endpoints;
      }
      const without = parts.length > 1 ? [...open].filter((url) => lacksFolders(parts, url)) : [];
      const similar = without.length > 0 ? without : [...open].filter((url) => isMisspelt(parts, url));
      return similar.slice(0, MOST_SUGGESTED);
    },
    insteadOf(path) {
      if (path.length > LONGEST_COMPARED) return undefined;
      const plain = path.toLowerCase().replace(/\/+$/, '');
      const instead = ABSENT.find(([pattern]) => pattern.test(plain))?.[1];
      return instead === REGISTER && served.has('/oidc/register') ? SELF_REGISTRATION : instead;
    },
  };
}
