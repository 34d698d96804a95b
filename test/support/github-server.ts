import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What GitHub says of a person. */
export interface GithubUser {
  readonly id: unknown;
  readonly login?: string;
  readonly name?: string | null;
  readonly emails?: readonly { readonly email: string; readonly primary: boolean; readonly verified: boolean }[];
}

/** GitHub Enterprise as far as a sign-in goes, over real HTTP. It refuses with the status 200, as GitHub does. */
export class GithubServer {
  readonly clientId = 'Iv1.0123456789abcdef';
  readonly clientSecret = 'the secret of Tessera at GitHub';
  user: GithubUser = { id: 583231, login: 'octocat', name: 'The Octocat' };
  /** Answers a path by itself. */
  answer: ((path: string, response: ServerResponse) => boolean) | undefined;
  reusesCodes = false;
  /** What it calls itself in its responses: github.com by this URL, older servers of an enterprise not at all. */
  iss: string | undefined;
  /** What was asked, with what. */
  readonly asked: { readonly path: string; readonly authorization: string | undefined }[] = [];
  baseUrl = '';
  readonly #codes = new Map<string, { readonly challenge: string | null; readonly redirectUri: string | null }>();
  readonly #tokens = new Map<string, GithubUser>();
  readonly #server = createServer((request, response) => void this.#handle(request, response));

  static async start(): Promise<GithubServer> {
    const github = new GithubServer();
    await new Promise<void>((resolve) => github.#server.listen(0, '127.0.0.1', resolve));
    github.baseUrl = `http://127.0.0.1:${(github.#server.address() as AddressInfo).port}`;
    github.iss = github.ownIss;
    return github;
  }

  get ownIss(): string {
    return `${this.baseUrl}/login/oauth`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Plays the browser at the authorization endpoint: where it is sent back. */
  authorize(url: string): URL {
    const { pathname, searchParams: query } = new URL(url);
    const code = `code-${this.#codes.size + 1}-${this.#tokens.size}`;
    this.#codes.set(code, { challenge: query.get('code_challenge'), redirectUri: query.get('redirect_uri') });
    const callback = new URL(query.get('redirect_uri') ?? '');
    callback.searchParams.set('code', pathname === '/login/oauth/authorize' ? code : 'wrong endpoint');
    callback.searchParams.set('state', query.get('state') ?? '');
    if (this.iss !== undefined) callback.searchParams.set('iss', this.iss);
    return callback;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = new URL(request.url ?? '/', this.baseUrl).pathname;
    this.asked.push({ path, authorization: request.headers.authorization });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (this.answer?.(path, response) === true) return;
    if (path === '/login/oauth/access_token') {
      return this.#redeem(new URLSearchParams(Buffer.concat(chunks).toString('utf8')), response);
    }
    const user = this.#tokens.get((request.headers.authorization ?? '').replace('Bearer ', ''));
    if (user === undefined) return send(response, 401, { message: 'Bad credentials' });
    const { emails, ...profile } = user;
    if (path === '/api/v3/user') return send(response, 200, profile);
    if (path === '/api/v3/user/emails' && emails !== undefined) return send(response, 200, emails);
    send(response, 404, { message: 'Not Found' });
  }

  #redeem(form: URLSearchParams, response: ServerResponse): void {
    const [status, answer] = this.#tokensFor(form);
    send(response, status, answer);
  }

  #tokensFor(form: URLSearchParams): readonly [status: number, answer: object] {
    const code = form.get('code') ?? '';
    const asked = this.#codes.get(code);
    if (form.get('client_id') !== this.clientId) return [404, { error: 'Not Found' }];
    if (form.get('client_secret') !== this.clientSecret) return [200, { error: 'incorrect_client_credentials' }];
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    if (asked?.challenge !== challenge || asked.redirectUri !== form.get('redirect_uri')) {
      return [200, { error: 'bad_verification_code' }];
    }
    if (!this.reusesCodes) this.#codes.delete(code);
    const token = `gho_${this.#tokens.size + 1}`;
    this.#tokens.set(token, this.user);
    return [200, { access_token: token, token_type: 'bearer', scope: 'read:user,user:email' }];
  }
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}
