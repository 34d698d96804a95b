import { lookup } from 'node:dns/promises';
import type { Clock } from '../../platform/clock.ts';
import { type ProbeResult, sendProbe } from './http-probe.ts';
import { PROBE_HEADER, PROBE_PATH, type ProbeReport, sealProbe } from './probe.ts';
import { answersLive, cookieNamed, trustworthy } from './rules/answers.ts';
import { MARKER } from './rules/proxy.ts';

/** What the service answered at its base URL; undefined for what was not requested. */
export interface Online {
  readonly baseUrl: string;
  /** Why the host name cannot be resolved; undefined if it can. */
  readonly unknownHost: string | undefined;
  readonly live: ProbeResult;
  /** The same address without TLS. */
  readonly plain: ProbeResult | undefined;
  readonly ready: ProbeResult | undefined;
  /** How the service saw the probe; undefined if it did not accept the probe, or was not asked. */
  readonly seen: ProbeReport | undefined;
  readonly signIn: ProbeResult | undefined;
  /** The sign-in page again, with the cookie that came with it. */
  readonly signInAgain: ProbeResult | undefined;
  /** The clock of the service, less the one of this machine, in milliseconds. */
  readonly ahead: number | undefined;
}

/** Sends requests to a running service through its base URL; none of them changes anything there. */
export async function lookOnline(
  baseUrl: string,
  probeKey: Buffer | undefined,
  browserCookie: string,
  clock: Clock,
): Promise<Online> {
  const at = (path: string): URL => new URL(baseUrl + path);
  const { hostname, protocol, port } = at('/');
  const unknownHost = await lookup(hostname.replace(/^\[(.*)\]$/, '$1')).then(
    () => undefined,
    (error: Error & { code?: string }) => error.code ?? error.message,
  );
  const nothing = { plain: undefined, ready: undefined, seen: undefined, signIn: undefined, signInAgain: undefined };
  const silence = { kind: 'silence', reason: unknownHost ?? '' } as const;
  if (unknownHost !== undefined) return { baseUrl, unknownHost, live: silence, ...nothing, ahead: undefined };

  const before = clock();
  const live = await sendProbe(at('/health/live'));
  const between = (before + clock()) / 2;
  if (live.kind === 'silence' || !answersLive(live) || !trustworthy(live))
    return { baseUrl, unknownHost, live, ...nothing, ahead: undefined };

  // The Date header has whole seconds, rounded down.
  let ahead = live.date === undefined ? undefined : live.date + 500 - between;
  const plainAddress = at('/health/live');
  plainAddress.protocol = 'http:';
  const plain = protocol === 'https:' && port === '' ? await sendProbe(plainAddress) : undefined;
  const ready = await sendProbe(at('/health/ready'));
  let seen: ProbeReport | undefined;
  if (probeKey !== undefined) {
    const asked = clock();
    const headers = { [PROBE_HEADER]: sealProbe(probeKey, asked), 'x-forwarded-for': MARKER };
    const answer = await sendProbe(at(PROBE_PATH), headers);
    seen =
      answer.kind === 'answer' && answer.status === 200 ? (parse(answer.text) as ProbeReport | undefined) : undefined;
    if (seen !== undefined) ahead = seen.now - (asked + clock()) / 2;
  }
  const signIn = await sendProbe(at('/login'));
  const cookie = signIn.kind === 'answer' ? cookieNamed(signIn.setCookies, browserCookie) : undefined;
  const signInAgain =
    cookie === undefined ? undefined : await sendProbe(at('/login'), { cookie: `${cookie.name}=${cookie.value}` });
  return { baseUrl, unknownHost, live, plain, ready, seen, signIn, signInAgain, ahead };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
