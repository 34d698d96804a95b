import { isLoopback } from '../../../platform/config/loopback.ts';
import { canonicalAddress, parseForwardedEntry } from '../../../platform/validation/origin.ts';
import type { Config } from '../../../settings/config.ts';
import { type Finding, problem, tabulate, warning } from '../finding.ts';
import type { ProbeReport } from '../probe.ts';

/** A documentation address (RFC 5737), sent as a caller would that forges its address. */
export const MARKER = '192.0.2.77';

const HEADER = 'X-Forwarded-For';
const SEPARATE = `Configure the proxy to append the caller’s address to ${HEADER}, for example: proxy_set_header ${HEADER} $proxy_add_x_forwarded_for;`;

/** Whether the service trusts the right proxies to report the caller's address, which limits and the audit trail depend on. */
export function judgeProxies(
  config: Config,
  baseUrl: string,
  seen: ProbeReport | undefined,
  reached: boolean,
): Finding[] {
  const findings = seen === undefined ? unseen(config, baseUrl, reached) : [...judgeSeen(seen), ...judgeEntries(seen)];
  return [...findings, ...exposure(config)];
}

/** The entries of the header, the outermost first, and the position of the one that this command sent. */
function readList({ forwardedFor }: ProbeReport): { readonly list: readonly string[]; readonly marked: number } {
  const entries = (forwardedFor ?? '').split(',').map((entry) => entry.trim());
  const list = entries.filter((entry) => entry !== '');
  return { list, marked: list.lastIndexOf(MARKER) };
}

/** Whether the proxies write plain addresses. Tessera reads other forms if they contain an address. */
function judgeEntries(seen: ProbeReport): Finding[] {
  const { list, marked } = readList(seen);
  const noted = list.slice(marked + 1);
  const withPort = noted.find((entry) => parseForwardedEntry(entry)?.hasPort);
  const unreadable = noted.find((entry) => parseForwardedEntry(entry) === undefined);
  const warn = (found: string, remedy: string): Finding[] => [warning('proxy-headers', found, remedy)];
  return [
    ...(withPort === undefined
      ? []
      : warn(
          `A proxy in front writes a port after the address in ${HEADER}: ${JSON.stringify(withPort)}. Tessera ignores the port; other programs may see each port as another caller.`,
          'Configure the proxy to write only the address. Azure Application Gateway: a rewrite rule with {var_add_x_forwarded_for_proxy}.',
        )),
    ...(unreadable === undefined
      ? []
      : warn(
          `A proxy in front writes ${JSON.stringify(unreadable)} in ${HEADER}, which is not an IP address: such callers share one limit, and the audit trail has no address for them.`,
          'Configure the proxy to write the IP address of the caller.',
        )),
  ];
}

/** What follows from the settings alone. The service never terminates TLS, so with an https base URL a proxy does. */
function unseen({ trustProxy }: Config, baseUrl: string, reached: boolean): Finding[] {
  const behind = new URL(baseUrl).protocol === 'https:';
  if (behind && trustProxy === false) {
    return [
      problem(
        'proxy-headers',
        'The base URL is https, so there is a proxy in front, but TESSERA_TRUST_PROXY is off, so all callers share its address.',
        'Set TESSERA_TRUST_PROXY to the number of proxies in front, or to their addresses.',
      ),
    ];
  }
  if (!reached) return [];
  return [
    warning(
      'proxy-headers',
      'The running service does not accept the probe of this command: it has another secret or version.',
      'Run tessera doctor with the settings and the version of the server.',
    ),
  ];
}

function judgeSeen(seen: ProbeReport): Finding[] {
  const { list, marked } = readList(seen);
  const peer = canonicalAddress(seen.peer) ?? seen.peer;
  const taken = seen.address ?? 'no address';
  /** What the proxies wrote, the outermost first: all entries if the marker is missing. */
  const noted = list.slice(marked + 1);
  const proxies = noted.length;
  const trust = seen.trustProxy === false ? 'off' : String(seen.trustProxy);
  const host = new URL(seen.baseUrl).host;
  const say = (found: string, remedy: string): Finding[] => [problem('proxy-headers', found, remedy)];

  if (seen.address === MARKER) {
    return say(
      `Callers can forge their address: the service trusts what the caller writes in ${HEADER} (TESSERA_TRUST_PROXY is ${trust}).`,
      proxies === 0
        ? `If there is a proxy in front: ${SEPARATE} Otherwise unset TESSERA_TRUST_PROXY.`
        : `Set TESSERA_TRUST_PROXY=${proxies}, the number of proxies in front.`,
    );
  }
  if (marked < 0 && proxies === 0) {
    return say(
      `A proxy in front removes ${HEADER}, and all callers share the address ${taken}.`,
      `${SEPARATE} Then set TESSERA_TRUST_PROXY=1.`,
    );
  }
  if (proxies === 0 && seen.baseUrl.startsWith('https:')) {
    return say(
      `The proxy in front forwards ${HEADER} as the caller wrote it, and all callers share the address ${taken}.`,
      `${SEPARATE} Then set TESSERA_TRUST_PROXY=1.`,
    );
  }
  const stand = proxies === 1 ? 'There is one proxy' : `There are ${proxies} proxies`;
  if (stopsShort(seen, noted)) {
    const effect =
      seen.trustProxy === false
        ? `all callers share the address of the proxy, ${peer}`
        : `callers are seen as ${taken}, but this one came from ${noted[0]}`;
    return say(
      `${stand} in front, and TESSERA_TRUST_PROXY is ${trust}: ${effect}.`,
      `Set TESSERA_TRUST_PROXY=${proxies}, or the addresses of the proxies (the nearest is ${peer}).`,
    );
  }
  const about = proxies === 0 ? 'There is no proxy in front' : `${stand} in front`;
  return tabulate('proxy-headers', [
    ['ok', `${about}, and the service sees this caller as ${taken} (TESSERA_TRUST_PROXY is ${trust}).`],
    // Harmless here, since only the base URL counts, but other programs behind the same proxy may depend on it.
    [
      seen.host !== host && 'ok',
      `The proxy sends Host: ${seen.host ?? 'nothing'} instead of ${host}. Tessera uses only its base URL.`,
    ],
  ]);
}

/**
 * Whether the service takes one of the proxies for the caller, instead of the address that the outermost proxy wrote. The number of
 * proxies tells this even if the command runs on the machine of the proxy, where both have the same address.
 */
function stopsShort({ trustProxy, address }: ProbeReport, noted: readonly string[]): boolean {
  if (noted.length === 0) return false;
  if (typeof trustProxy === 'number') return trustProxy < noted.length;
  return trustProxy === false || address !== (parseForwardedEntry(noted[0] ?? '')?.address ?? null);
}

/** With a number of proxies, callers that bypass them are trusted as well. */
function exposure({ trustProxy, host, port }: Config): Finding[] {
  if (typeof trustProxy !== 'number' || trustProxy === 0 || isLoopback(host) || host === '::1') return [];
  return [
    warning(
      'proxy-headers',
      `TESSERA_TRUST_PROXY is a number, and the server listens on ${host}: callers that reach port ${port} without the proxy can forge their address.`,
      'Let only the proxy reach that port, or name the addresses of the proxies in TESSERA_TRUST_PROXY.',
    ),
  ];
}
