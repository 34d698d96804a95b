import { readFileSync, writeFileSync } from 'node:fs';
import { type Address, type Answer, openConnection } from './load.ts';
import type { OtherOptions } from './options.ts';
import { pack, type Requests } from './requests.ts';
import { member } from './subject.ts';

/** A server that somebody else has started, known by its token endpoint and its UserInfo address. */
export interface Other {
  readonly name: string;
  readonly process: { readonly pid?: number | undefined };
  readonly tokenAddress: Address;
  readonly userInfoAddress: Address;
  /** How many chains of refresh tokens there are. Each is followed by one connection at a time. */
  readonly sample: number;
  refresh(chain: number): string;
  refreshed(chain: number, answer: Answer): boolean;
  /** A UserInfo request for each access token. */
  userInfo(): Requests;
  /** Writes the current refresh tokens into their file, since those that were read have been used. */
  keepTokens(): void;
}

/** What is wrong with the server or the options, with the remedy. */
export class OtherError extends Error {}

/** Reads one token a line. */
function tokensIn(file: string | undefined): string[] {
  if (file === undefined) return [];
  const tokens = readFileSync(file, 'utf8').split(/\s+/).filter(Boolean);
  if (tokens.length === 0) throw new OtherError(`${file} has no token; expected one on each line`);
  return tokens;
}

function endpoint(name: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:') {
    throw new OtherError(
      `${name} must be a URL that begins with http://, and is "${text}": TLS would be measured as well`,
    );
  }
  return url;
}

const addressOf = ({ hostname, port }: URL): Address => ({
  host: hostname.replace(/^\[(.*)\]$/, '$1'),
  port: Number(port) || 80,
});

/**
 * Asks once for everything that will be measured, so that a wrong option is explained before the load begins.
 * @throws {OtherError} where something does not answer as expected
 */
export async function openOther(options: OtherOptions): Promise<Other> {
  const token = endpoint('--url', options.url);
  const userInfo = endpoint('--userinfo', options.userInfo);
  const refreshTokens = tokensIn(options.refreshTokens);
  const accessTokens = tokensIn(options.accessTokens);
  if (refreshTokens.length + accessTokens.length === 0) {
    throw new OtherError('Name a file of tokens: --refresh-tokens or --access-tokens, or both');
  }
  const request = (url: URL, method: string, headers: readonly string[], body = '') =>
    `${method} ${url.pathname}${url.search} HTTP/1.1\r\n${[`Host: ${url.host}`, 'Accept: application/json', ...headers].join('\r\n')}\r\n\r\n${body}`;
  const { clientId = '', clientSecret, basic } = options;
  const secret = clientSecret === undefined ? {} : { client_secret: clientSecret };
  const inBody: Record<string, string> = basic ? {} : { client_id: clientId, ...secret };
  const credentials = [clientId, clientSecret ?? ''].map(encodeURIComponent).join(':');
  const inHeader = basic ? [`Authorization: Basic ${Buffer.from(credentials).toString('base64')}`] : [];

  const other: Other = {
    name: options.name,
    process: { pid: options.pid },
    tokenAddress: addressOf(token),
    userInfoAddress: addressOf(userInfo),
    sample: refreshTokens.length,
    refresh(chain) {
      const fields = { grant_type: 'refresh_token', refresh_token: refreshTokens[chain] ?? '', ...inBody };
      const body = options.json ? JSON.stringify(fields) : new URLSearchParams(fields).toString();
      const type = options.json ? 'application/json' : 'application/x-www-form-urlencoded';
      const headers = [...inHeader, `Content-Type: ${type}`, `Content-Length: ${Buffer.byteLength(body)}`];
      return request(token, 'POST', headers, body);
    },
    refreshed(chain, { status, body }) {
      // A server without rotation may leave it out.
      refreshTokens[chain] = member(body, 'refresh_token') ?? refreshTokens[chain] ?? '';
      return status === 200 && member(body, 'access_token') !== undefined;
    },
    userInfo: () => pack(accessTokens.map((one) => request(userInfo, 'GET', [`Authorization: Bearer ${one}`]))),
    keepTokens() {
      if (options.refreshTokens !== undefined) writeFileSync(options.refreshTokens, `${refreshTokens.join('\n')}\n`);
    },
  };

  for (let chain = 0; chain < refreshTokens.length; chain++) {
    const answer = await ask('--url', token, other.refresh(chain));
    const access = member(answer.body, 'access_token');
    if (!other.refreshed(chain, answer) || access === undefined) {
      other.keepTokens();
      const hint =
        'Expected 200 with an access_token. Check --client-id, --client-secret, --basic and --json, and get new tokens if these were used.';
      throw new OtherError(`${token} answered refresh token ${chain + 1} with ${summaryOf(answer)}\n${hint}`);
    }
    if (options.accessTokens === undefined) accessTokens.push(access);
  }
  other.keepTokens();
  const [first] = accessTokens;
  const answer = await ask('--userinfo', userInfo, other.userInfo().at(0));
  if (answer.status !== 200 || !/"sub"\s*:|"id"\s*:/.test(answer.body)) {
    throw new OtherError(
      `${userInfo} answered the access token ${first?.slice(0, 8)}… with ${summaryOf(answer)}\n` +
        'Expected 200 with the claims of a person. The token must be alive, and have the scope openid.',
    );
  }
  return other;
}

const summaryOf = ({ status, body }: Answer): string => `${status}: ${body.slice(0, 300)}`;

/** Sends one request, and explains a server that does not answer. */
async function ask(option: string, url: URL, request: string | Uint8Array): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const timer = setTimeout(() => reject(new Error('no answer within 10 seconds')), 10_000);
  let close = () => {};
  // It never opens where nothing listens.
  void openConnection(addressOf(url), resolve, reject).then((connection) => {
    close = connection.close;
    connection.send(request);
  });
  try {
    return await promise;
  } catch (error) {
    throw new OtherError(
      `Nothing answers at ${url} (${error instanceof Error ? error.message : error}). Check ${option}.`,
      {
        cause: error,
      },
    );
  } finally {
    clearTimeout(timer);
    close();
  }
}
