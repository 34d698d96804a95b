import { readFileSync } from 'node:fs';
import { ADMIN_PATH } from '../admin/path.ts';
import { SECOND } from '../platform/clock.ts';
import { ConfigError } from '../platform/config/config-error.ts';
import { isLoopback } from '../platform/config/loopback.ts';
import { remoteVariables } from '../platform/config/remote.ts';
import { VERSION } from '../platform/version.ts';
import { printable } from './output.ts';
import { refusalOfApi } from './refusal.ts';
import { type ApiRequest, FILE_TYPE, type Send } from './send.ts';
import { findSignIn } from './sign-ins.ts';

/** A server elsewhere, and what to act with. */
interface Server {
  /** Without a trailing slash. */
  readonly url: string;
  /** An admin key, or the token of a sign-in. */
  readonly credential: string;
  /** Where the credential is from, and what to do where it is refused. */
  readonly refused: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The base URL of the server that commands are for, if it is another than the one on this machine's data. @throws {ConfigError} */
function readServerUrl(environment: Environment): string | undefined {
  const problems: string[] = [];
  const url = remoteVariables.server.read(environment, problems);
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => problem.replace('TESSERA_SERVER', SERVER)));
  if (url === undefined) return undefined;
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && environment['TESSERA_ALLOW_HTTP'] !== '1') {
    throw new ConfigError([
      `${SERVER} is ${url.origin}: over http, the network could read the admin key. Use https, or set TESSERA_ALLOW_HTTP=1 in a closed network.`,
    ]);
  }
  return (url.origin + url.pathname).replace(/\/+$/, '');
}

/** @throws {ConfigError} where no server is named */
export function requireServerUrl(environment: Environment): string {
  const url = readServerUrl(environment);
  if (url === undefined) throw new ConfigError([`Name the server: ${SERVER}, for example https://id.example.com.`]);
  return url;
}

/** The server that commands are for, if it is another than the one on this machine's data. @throws {ConfigError} */
export function readServer(environment: Environment): Server | undefined {
  const url = readServerUrl(environment);
  if (url === undefined) return undefined;
  const keyFile = remoteVariables.keyFile.read(environment, []);
  if (keyFile !== undefined) {
    const refused = `the admin key in ${keyFile}: it is unknown there, was revoked or has ended. Make another on that server: tessera admin-key create --role <role> --expires 90d`;
    return { url, credential: readKey(keyFile), refused };
  }
  const signedIn = findSignIn(environment, url);
  if (signedIn !== undefined) {
    return { url, credential: signedIn.token, refused: 'your sign-in any more. Sign in again with: tessera login' };
  }
  throw new ConfigError([
    `${SERVER} needs an admin key or a sign-in: give the file of a key with --key-file or TESSERA_KEY_FILE, or sign in with: tessera login. ` +
      'An operator makes a key with: tessera admin-key create --role <role> --expires 90d',
  ]);
}

const SERVER = '--server (TESSERA_SERVER)';

function readKey(file: string): string {
  if (file.trim().startsWith('tak_')) {
    throw new ConfigError([
      '--key-file (TESSERA_KEY_FILE) has an admin key, and must be the path of a file that holds one. Write the key into a file that only you can read, and give its path.',
    ]);
  }
  let key: string;
  try {
    key = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new ConfigError([
      `The file of the admin key cannot be read: ${(error as Error).message}. Correct --key-file (TESSERA_KEY_FILE), or make a key: tessera admin-key create.`,
    ]);
  }
  if (key.startsWith('{')) {
    throw new ConfigError([`The file ${file} has JSON. Write the value of adminKey into it, and nothing else.`]);
  }
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  const what = key === '' ? 'is empty' : 'has more in it than a key, which is one word of ASCII';
  throw new ConfigError([`The file ${file} ${what}. Write the admin key into it, and nothing else.`]);
}

/** The server cannot be asked, or does not accept the key: nothing was said about what the command wants. */
export class UnusableServer extends Error {
  override readonly name = 'UnusableServer';
  readonly code: string;
  constructor(code: string, text: string) {
    super(text);
    this.code = code;
  }
}

/** How long a server may take to answer: as long as its own deadlines, and a little. */
const PATIENCE = 120 * SECOND;

/** Sends requests to the admin API of a server. */
export const sendToServer =
  (server: Server): Send =>
  async ({ method, path, body, file, ifMatch }: ApiRequest) => {
    const response = await fetch(server.url + ADMIN_PATH + path, {
      method,
      headers: {
        authorization: `Bearer ${server.credential}`,
        accept: 'application/json',
        'user-agent': `tessera/${VERSION}`,
        ...(file !== undefined && { 'content-type': FILE_TYPE }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(ifMatch !== undefined && { 'if-match': ifMatch }),
      },
      // The key is sent to no other address than the one that was given.
      redirect: 'manual',
      signal: AbortSignal.timeout(PATIENCE),
      ...(file !== undefined && { body: Buffer.from(file) }),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch((error: unknown) => {
      throw unreachable(server, error);
    });
    return { body: await answerOf(server, response), etag: response.headers.get('etag') ?? undefined };
  };

async function answerOf(server: Server, response: Response): Promise<unknown> {
  const { status, headers } = response;
  const text = await response.text().catch((error: unknown) => {
    throw unreachable(server, error);
  });
  if (status === 204) return undefined;
  const location = headers.get('location');
  if (status >= 300 && status < 400) {
    const to = location === null ? 'elsewhere' : `to ${printable(location)}`;
    throw new UnusableServer('invalid_configuration', `${server.url} redirects ${to}. Give the address itself.`);
  }
  const answer = parse(text);
  if (answer === undefined) throw notTessera(server, status);
  if (response.ok) return answer;
  const { error, error_description: description } = answer as { error?: unknown; error_description?: unknown };
  if (typeof error !== 'string' || typeof description !== 'string') throw notTessera(server, status);
  if (status === 401) {
    throw new UnusableServer(error, `${server.url} does not accept ${server.refused}.`);
  }
  // An address that the API does not have: another program, another path, or an earlier version.
  if (status === 404 && error !== 'not_found') throw notTessera(server, status);
  throw (
    refusalOfApi(error, description) ?? new UnusableServer(error, `${server.url} answers: ${printable(description)}`)
  );
}

/** Calls an endpoint of the protocol. @returns the answer, with its error code if it is a refusal */
export async function callServer(
  url: string,
  endpoint: string,
  body: object,
): Promise<{ readonly error?: string; readonly answer: Readonly<Record<string, unknown>> }> {
  const response = await fetch(url + endpoint, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': `tessera/${VERSION}` },
    redirect: 'manual',
    signal: AbortSignal.timeout(PATIENCE),
    body: JSON.stringify(body),
  }).catch((error: unknown) => {
    throw unreachable({ url }, error);
  });
  const text = await response.text();
  const answer = response.ok && text === '' ? {} : parse(text);
  if (answer === undefined) throw notTessera({ url }, response.status);
  const { error } = answer as { readonly error?: unknown };
  return { answer: { ...answer }, ...(!response.ok && { error: String(error) }) };
}

const notTessera = ({ url }: Pick<Server, 'url'>, status: number): UnusableServer =>
  new UnusableServer(
    'invalid_configuration',
    `${url} answers with status ${status}, and not as the admin API of this version of Tessera does. ` +
      'Check --server: it must be the base URL of that server (TESSERA_BASE_URL there). The server may also run an earlier version.',
  );

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What is said of a request that got no answer, by the code of the error. */
const CAUSES: readonly (readonly [RegExp, string])[] = [
  [/^ENOTFOUND$|^EAI_/, 'its name is not known. Check --server'],
  [/^ECONNREFUSED$/, 'nothing listens there. Check --server, and that the server runs'],
  [
    /^(CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)$/,
    'its certificate is not valid at this time. Nothing was sent. Renew it, or correct the clock of this machine',
  ],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    'its certificate is for another name. Nothing was sent. Check --server: it must be the name in the certificate',
  ],
  [
    /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/,
    'its certificate is not from an authority that this machine trusts. Nothing was sent. For an authority of your own, name its certificate in NODE_EXTRA_CA_CERTS',
  ],
  [
    /^(EPROTO|ERR_SSL_\w+|ERR_TLS_\w+)$/,
    'no secure connection was possible. Check --server: it may be an http address',
  ],
];

function unreachable({ url }: Pick<Server, 'url'>, error: unknown): UnusableServer {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const known = CAUSES.find(([pattern]) => pattern.test(code))?.[1];
  const isSlow = error instanceof DOMException && error.name === 'TimeoutError';
  const why = isSlow
    ? 'it did not answer in time'
    : (known ?? (cause instanceof Error ? cause.message : String(cause)));
  return new UnusableServer('temporarily_unavailable', `${url} cannot be reached: ${printable(why)}.`);
}
