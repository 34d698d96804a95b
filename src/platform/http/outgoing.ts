import type { LookupAddress } from 'node:dns';
import { lookup as systemLookup } from 'node:dns/promises';
import { request as overHttps } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { isLoopback } from '../config/config.ts';
import { request as overHttp } from './node-http.ts';

/** Which places requests of our own may go to. They are named by registrations, and our network trusts us more than those. */
export interface OutgoingRules {
  /** Whether this installation is one on a developer's machine: then loopback, `http` and every network are open. */
  readonly local: boolean;
  /** Networks beside the public internet that are open, as `<address>/<bits>` or an address. */
  readonly networks: readonly string[];
}

export interface OutgoingRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The most bytes that the answer's body may have; left out where nobody reads it. */
  readonly longestBody?: number;
  /** For the whole of it: name, connection, request and answer. */
  readonly timeoutMs: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
}

export interface OutgoingAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** A request of ours that was not made, or got no answer; the message says why in words for an operator. */
export class OutgoingFailed extends Error {
  override readonly name = 'OutgoingFailed';
}

export type Outgoing = (request: OutgoingRequest) => Promise<OutgoingAnswer>;

/** IPv4 but what is private, special or nobody's (RFC 6890 and the registry that it began). */
const CLOSED_4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
];
/** How much of an answer that nobody reads is taken in before the line is cut. */
const IGNORED_BODY = 64 * 1024;

/** Of IPv6 only global unicast is open, without what carries IPv4 addresses inside or is for documentation. */
const OPEN_6 = ['2000::/3'];
const CLOSED_6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

function blockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    list.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  return list;
}

const closed4 = blockList(CLOSED_4);
const open6 = blockList(OPEN_6);
const closed6 = blockList(CLOSED_6);

/** Whether an address is on the public internet. What is none at all is not. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !closed4.check(address, 'ipv4');
  return family === 6 && open6.check(address, 'ipv6') && !closed6.check(address, 'ipv6');
}

/**
 * Makes requests to addresses that registrations name (OWASP SSRF Prevention). A name is resolved once, and the connection
 * goes to an address that was judged: a second answer of the name server cannot lead it elsewhere. Redirects are not
 * followed, answers are bounded, and no connection is kept.
 * @param resolve how a name becomes addresses
 */
export function outgoing(
  rules: OutgoingRules,
  resolve: (name: string) => Promise<readonly LookupAddress[]> = (name) => systemLookup(name, { all: true }),
): Outgoing {
  const opened = blockList(rules.networks);
  const isOpen = (address: string): boolean =>
    rules.local || isPublicAddress(address) || opened.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

  async function openAddresses(host: string): Promise<readonly LookupAddress[]> {
    const literal = host.replace(/^\[|\]$/g, '');
    const addresses =
      isIP(literal) === 0
        ? await resolve(host).catch(() => {
            throw new OutgoingFailed(`the name ${host} is not known`);
          })
        : [{ address: literal, family: isIP(literal) }];
    const open = addresses.filter(({ address }) => isOpen(address));
    if (open.length === 0) {
      throw new OutgoingFailed(
        `${host} is not on the public internet, and TESSERA_OUTGOING_ALLOW does not name its network`,
      );
    }
    return open;
  }

  return async (request) => {
    const url = new URL(request.url);
    if (url.protocol !== 'https:' && !(url.protocol === 'http:' && rules.local && isLoopback(url.hostname))) {
      throw new OutgoingFailed('the address must use https');
    }
    const deadline = AbortSignal.timeout(request.timeoutMs);
    const signal = request.signal === undefined ? deadline : AbortSignal.any([deadline, request.signal]);
    const targets = await untilAborted(openAddresses(url.hostname), signal, request);
    return await send(request, url, targets, signal);
  };
}

const late = ({ timeoutMs }: OutgoingRequest): OutgoingFailed =>
  new OutgoingFailed(`there was no answer within ${timeoutMs / 1000} seconds`);

function untilAborted<T>(work: Promise<T>, signal: AbortSignal, request: OutgoingRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(late(request));
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
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
      reject(signal.aborted ? late(request) : new OutgoingFailed(said(error)));
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

/** What an operator can do something with: a certificate, a port that is closed, a line that broke. */
function said({ code, message }: NodeJS.ErrnoException): string {
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ECONNRESET') return 'the connection was closed without an answer';
  return message;
}
