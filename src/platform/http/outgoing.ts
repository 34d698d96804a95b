import type { LookupAddress } from 'node:dns';
import { lookup as systemLookup } from 'node:dns/promises';
import { request as overHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { isLoopback } from '../config/loopback.ts';
import { request as overHttp } from './node-http.ts';

/** Where outgoing requests may go. Client registrations name the URLs, which must not reach the service's own network (SSRF). */
export interface OutgoingRules {
  /** Whether this installation runs on a developer's machine: then loopback, `http` and every network are allowed. */
  readonly local: boolean;
  /** Networks beyond the public internet that are allowed, each as an address or `<address>/<bits>`. */
  readonly networks: readonly string[];
}

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Headers for the operator's own networks: sent only to addresses that TESSERA_OUTGOING_ALLOW names, and on this machine. */
  readonly ownNetworkHeaders?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whether the address is a stranger's choice: then TESSERA_OUTGOING_ALLOW opens nothing to it. */
  readonly publicOnly?: boolean;
  /** The largest body of the answer that is read, in bytes; if absent, the body is ignored. */
  readonly longestBody?: number;
  /** For the whole exchange: name resolution, connection, request and answer. */
  readonly timeoutMs: number;
  /** Aborts the request. */
  readonly signal?: AbortSignal;
}

export interface OutgoingAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** An outgoing request that was not sent, or got no answer; the message is for operators. */
export class OutgoingFailed extends Error {
  override readonly name = 'OutgoingFailed';
}

export type Outgoing = (request: OutgoingRequest) => Promise<OutgoingAnswer>;

/** IPv4 networks that are private, special or reserved (RFC 6890 and its registry). */
const PRIVATE_4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
];
/** How many bytes of an ignored answer are received before the connection is closed. */
const IGNORED_BODY = 64 * 1024;

/** IPv6 global unicast is public, except for networks that embed IPv4 addresses or are for documentation. */
const PUBLIC_6 = ['2000::/3'];
const PRIVATE_6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    // `isIP` would compile its expression for IPv6, which takes a start 5 ms. What is no address is rejected in any case.
    const family = address.includes(':') ? 'ipv6' : 'ipv4';
    list.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  return list;
}

const private4 = blockList(PRIVATE_4);
const public6 = blockList(PUBLIC_6);
const private6 = blockList(PRIVATE_6);

/** Whether a text is an IP address on the public internet. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !private4.check(address, 'ipv4');
  return family === 6 && public6.check(address, 'ipv6') && !private6.check(address, 'ipv6');
}

/**
 * Sends requests to URLs of client registrations (OWASP SSRF Prevention). A name is resolved once, and the connection uses an
 * address that was checked, so that a second DNS answer cannot redirect it. Redirects are not followed, answers are limited in
 * size, and connections are not reused.
 * @param resolve resolves a host name
 */
export function outgoing(
  rules: OutgoingRules,
  resolve: (name: string) => Promise<readonly LookupAddress[]> = (name) => systemLookup(name, { all: true }),
): Outgoing {
  const allowed = blockList(rules.networks);
  const isNamed = (address: string): boolean => allowed.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  const isOwn = (address: string): boolean =>
    isNamed(address) || (rules.local && (address === '::1' || isLoopback(address)));
  const isAllowed = (address: string, publicOnly: boolean): boolean =>
    rules.local || isPublicAddress(address) || (!publicOnly && isNamed(address));

  async function allowedAddresses(host: string, publicOnly: boolean): Promise<readonly LookupAddress[]> {
    const literal = host.replace(/^\[|\]$/g, '');
    const addresses =
      isIP(literal) === 0
        ? await resolve(host).catch(() => {
            throw new OutgoingFailed(`the name ${host} is not known`);
          })
        : [{ address: literal, family: isIP(literal) }];
    const usable = addresses.filter(({ address }) => isAllowed(address, publicOnly));
    if (usable.length === 0) {
      const why = publicOnly
        ? 'an address that no operator chose may not lead elsewhere'
        : 'TESSERA_OUTGOING_ALLOW does not name its network';
      throw new OutgoingFailed(`${host} is not on the public internet, and ${why}`);
    }
    return usable;
  }

  return async (request) => {
    const url = new URL(request.url);
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && rules.local && isLoopback(url.hostname))) {
      throw new OutgoingFailed('the address must use https');
    }
    const deadline = AbortSignal.timeout(request.timeoutMs);
    const signal = request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]);
    const targets = await unlessAborted(allowedAddresses(url.hostname, request.publicOnly ?? false), signal, request);
    const { ownNetworkHeaders, headers } = request;
    const isInside = ownNetworkHeaders !== undefined && targets.every(({ address }) => isOwn(address));
    return await send(
      isInside ? { ...request, headers: { ...headers, ...ownNetworkHeaders } } : request,
      url,
      targets,
      signal,
    );
  };
}

const timedOut = ({ timeoutMs }: OutgoingRequest): OutgoingFailed =>
  new OutgoingFailed(`there was no answer within ${timeoutMs / 1000} seconds`);

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal, request: OutgoingRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(timedOut(request));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

function send(
  request: OutgoingRequest,
  url: URL,
  targets: readonly LookupAddress[],
  signal: AbortSignal,
): Promise<OutgoingAnswer> {
  const { method, headers = {}, body, longestBody } = request;
  const pinned: LookupFunction = (_name, options, done) =>
    options.all ? done(null, [...targets]) : done(null, targets[0]?.address ?? '', targets[0]?.family);
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  const options = { method, headers: { 'user-agent': 'Tessera', ...headers, ...length }, lookup: pinned, signal };
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) =>
      reject(signal.aborted ? timedOut(request) : new OutgoingFailed(describeFailure(error)));
    const sent = (url.protocol === 'https:' ? overHttps : overHttp)(url, { ...options, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      let size = 0;
      const answered = () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) });
      if (longestBody === undefined) answered();
      answer.on('data', (chunk: Buffer) => {
        size += chunk.length;
        const most = longestBody ?? IGNORED_BODY;
        if (size > most) {
          reject(new OutgoingFailed(`the answer is longer than ${most} bytes`));
          sent.destroy();
        } else if (longestBody !== undefined) {
          chunks.push(chunk);
        }
      });
      answer.on('error', fail);
      answer.on('end', answered);
    });
    sent.on('error', fail);
    sent.end(body);
  });
}

/** A network error as an operator can act on it. */
function describeFailure({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ECONNRESET') return 'the connection was closed without an answer';
  return message;
}
