import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CompactSign, type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose';

export type Members = Record<string, unknown>;

/** How the provider departs from what is right, in one sign-in. */
export interface Tricks {
  readonly metadata?: (metadata: Members) => unknown;
  /** May also return a promise. */
  readonly keys?: (keys: JWK[]) => unknown;
  readonly claims?: (claims: Members) => Members;
  readonly header?: (header: Members) => Members;
  /** Instead of the signed ID token. */
  readonly idToken?: (claims: Members, provider: UpstreamProvider) => string | Promise<string>;
  readonly tokens?: (response: Members) => unknown;
  /** Accepts a code more than once. */
  readonly reusesCodes?: boolean;
  /** What the browser brings back. */
  readonly callback?: (callback: URLSearchParams) => void;
  /** Answers by itself. @returns whether it did */
  readonly answer?: (path: string, request: IncomingMessage, response: ServerResponse) => boolean;
}

/** A request that waits for its code. */
interface Asked {
  readonly nonce: string | null;
  readonly challenge: string | null;
  readonly redirectUri: string | null;
  readonly claims: Members;
}

/** Another OpenID Provider, over real HTTP, that does what it should unless a test says otherwise. */
export class UpstreamProvider {
  readonly clientId = 'tessera';
  readonly clientSecret = 'the secret of Tessera at the provider';
  tricks: Tricks = {};
  /** Who signs in next. */
  person: Members = { sub: 'alice-1', name: 'Alice Example', email: 'alice@upstream.example', sid: 'session-1' };
  /** The paths that were asked for. */
  readonly asked: string[] = [];
  now: () => number = Date.now;
  /** Whether it knows a client that authenticates in another way than with its secret. */
  authenticates: ((form: URLSearchParams) => Promise<boolean>) | undefined;

  issuer = '';
  #logouts = 0;
  #issued = 0;
  #kid = 'key-1';
  #privateKey!: CryptoKey;
  #publicKey!: JWK;
  readonly #codes = new Map<string, Asked>();
  readonly #server = createServer((request, response) => void this.#handle(request, response));

  static async start(): Promise<UpstreamProvider> {
    const provider = new UpstreamProvider();
    await provider.rotate('key-1');
    await new Promise<void>((resolve) => provider.#server.listen(0, '127.0.0.1', resolve));
    const { port } = provider.#server.address() as AddressInfo;
    provider.issuer = `http://127.0.0.1:${port}`;
    return provider;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Signs with a new key from now on, and publishes only that. */
  async rotate(kid: string, alg = 'ES256'): Promise<void> {
    const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
    this.#kid = kid;
    this.#privateKey = privateKey;
    this.#publicKey = { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' };
  }

  /** Plays the browser at the authorization endpoint: the address to which it is sent back. */
  authorize(url: string): URL {
    const query = new URL(url).searchParams;
    // Codes that were used are not in the map any more: their number says nothing of which is free.
    const code = `code-${++this.#issued}`;
    this.#codes.set(code, {
      nonce: query.get('nonce'),
      challenge: query.get('code_challenge'),
      redirectUri: query.get('redirect_uri'),
      claims: { ...this.person, ...(query.has('max_age') && { auth_time: this.#seconds() }) },
    });
    const callback = new URL(query.get('redirect_uri') ?? '');
    callback.searchParams.set('code', code);
    callback.searchParams.set('state', query.get('state') ?? '');
    callback.searchParams.set('iss', this.issuer);
    this.tricks.callback?.(callback.searchParams);
    return callback;
  }

  async sign(claims: Members, header: Members = {}, key: CryptoKey = this.#privateKey): Promise<string> {
    const alg = this.#publicKey.alg ?? 'ES256';
    return new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
      .setProtectedHeader({ alg, kid: this.#kid, ...header })
      .sign(key);
  }

  /** A logout token that says what it should. */
  logoutClaims(about: Members): Members {
    return {
      iss: this.issuer,
      aud: this.clientId,
      iat: this.#seconds(),
      exp: this.#seconds() + 120,
      jti: `logout-${++this.#logouts}`,
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
      ...about,
    };
  }

  #seconds(): number {
    return Math.floor(this.now() / 1000);
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', this.issuer).pathname;
    this.asked.push(path);
    if (this.tricks.answer?.(path, request, response) === true) return;
    const body = await textOf(request);
    if (path === '/.well-known/openid-configuration') return send(response, 200, this.#metadata());
    if (path === '/jwks') {
      return send(response, 200, (await this.tricks.keys?.([this.#publicKey])) ?? { keys: [this.#publicKey] });
    }
    if (path === '/token') return this.#token(request, body, response);
    send(response, 404, {});
  }

  #metadata(): unknown {
    const metadata: Members = {
      issuer: this.issuer,
      authorization_endpoint: `${this.issuer}/authorize`,
      token_endpoint: `${this.issuer}/token`,
      jwks_uri: `${this.issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256', 'RS256'],
      authorization_response_iss_parameter_supported: true,
    };
    return this.tricks.metadata?.(metadata) ?? metadata;
  }

  async #isClient({ headers }: IncomingMessage, form: URLSearchParams): Promise<boolean> {
    if (this.authenticates !== undefined) return this.authenticates(form);
    const credentials = Buffer.from((headers.authorization ?? '').replace('Basic ', ''), 'base64').toString();
    const [id, secret] = credentials.split(':').map((part) => decodeURIComponent(part.replaceAll('+', ' ')));
    return id === this.clientId && secret === this.clientSecret;
  }

  async #token(request: IncomingMessage, body: string, response: ServerResponse): Promise<void> {
    const form = new URLSearchParams(body);
    const asked = this.#codes.get(form.get('code') ?? '');
    if (this.tricks.reusesCodes !== true) this.#codes.delete(form.get('code') ?? '');
    if (!(await this.#isClient(request, form))) return send(response, 401, { error: 'invalid_client' });
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isOwn = asked?.challenge === challenge && asked.redirectUri === form.get('redirect_uri');
    if (asked === undefined || !isOwn) return send(response, 400, { error: 'invalid_grant' });
    const accessToken = 'an access token';
    const claims: Members = {
      iss: this.issuer,
      aud: this.clientId,
      iat: this.#seconds(),
      exp: this.#seconds() + 300,
      nonce: asked.nonce,
      at_hash: createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url'),
      ...asked.claims,
    };
    const said = this.tricks.claims?.(claims) ?? claims;
    const idToken = await (this.tricks.idToken?.(said, this) ?? this.sign(said, this.tricks.header?.({}) ?? {}));
    const tokens = { access_token: accessToken, token_type: 'Bearer', expires_in: 300, id_token: idToken };
    send(response, 200, this.tricks.tokens?.(tokens) ?? tokens);
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
