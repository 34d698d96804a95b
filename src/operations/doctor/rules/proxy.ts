import type { Config } from '../../../platform/config/config.ts';
import { isLoopback } from '../../../platform/config/config.ts';
import { canonicalAddress, parseForwardedEntry } from '../../../platform/validation/ip-address.ts';
import { type Finding, ok, problem, warning } from '../finding.ts';
import type { ProbeReport } from '../probe.ts';

/** An address that nobody has (RFC 5737), sent as a stranger would who wants to pass for somebody else. */
export const MARKER = '192.0.2.77';

const HEADER = 'X-Forwarded-For';
const SEPARATE = `Let the proxy add the caller’s address to ${HEADER}, for example: proxy_set_header ${HEADER} $proxy_add_x_forwarded_for;`;

/** Whether the service believes the right ones about the caller's address: limits and the audit trail rest on it. */
export function judgeProxies(
  config: Config,
  baseUrl: string,
  seen: ProbeReport | undefined,
  reached: boolean,
): Finding[] {
  const findings = seen === undefined ? unseen(config, baseUrl, reached) : [...judgeSeen(seen), ...judgeEntries(seen)];
  return [...findings, ...exposure(config)];
}

/** The entries of the list, the outermost first, and where what the command itself sent stands among them. */
function readList({ forwardedFor }: ProbeReport): { readonly list: readonly string[]; readonly marked: number } {
  const entries = (forwardedFor ?? '').split(',').map((entry) => entry.trim());
  const list = entries.filter((entry) => entry !== '');
  return { list, marked: list.lastIndexOf(MARKER) };
}

/** Whether the proxies write addresses by themselves; Tessera reads other forms, as far as they hold an address. */
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
          `A proxy in front writes a port behind the address in ${HEADER}: ${JSON.stringify(withPort)}. Tessera takes the address without the port; other programs may take each port for another caller.`,
          'Let the proxy write the address alone. Azure Application Gateway: a rewrite rule with {var_add_x_forwarded_for_proxy}.',
        )),
    ...(unreadable === undefined
      ? []
      : warn(
          `A proxy in front writes ${JSON.stringify(unreadable)} in ${HEADER}, which is no IP address: such callers share one limit, and the audit trail has no address for them.`,
          'Let the proxy write the IP address of the caller.',
        )),
  ];
}

/** What the settings alone say. The service itself never ends TLS, so an https base URL means that a proxy does. */
function unseen({ trustProxy }: Config, baseUrl: string, reached: boolean): Finding[] {
  const behind = new URL(baseUrl).protocol === 'https:';
  if (behind && trustProxy === false) {
    return [
      problem(
        'proxy-headers',
        'The base URL is https, so a proxy stands in front; TESSERA_TRUST_PROXY is off, so all callers share its address.',
        'Set TESSERA_TRUST_PROXY to the number of proxies in front, or to their addresses.',
      ),
    ];
  }
  if (!reached) return [];
  return [
    warning(
      'proxy-headers',
      'The running service does not know this command: it has another secret, or another version.',
      'Run tessera doctor with the settings and the version of the server.',
    ),
  ];
}

function judgeSeen(seen: ProbeReport): Finding[] {
  const { list, marked } = readList(seen);
  const peer = canonicalAddress(seen.peer) ?? seen.peer;
  const taken = seen.address ?? 'no address';
  /** What the proxies noted, the outermost first: where the marker is gone, the list is theirs altogether. */
  const noted = list.slice(marked + 1);
  const proxies = noted.length;
  const trust = seen.trustProxy === false ? 'off' : String(seen.trustProxy);
  const host = new URL(seen.baseUrl).host;
  const say = (found: string, remedy: string): Finding[] => [problem('proxy-headers', found, remedy)];

  if (seen.address === MARKER) {
    return say(
      `Anybody can choose their address: the service believes what the caller itself writes in ${HEADER} (TESSERA_TRUST_PROXY is ${trust}).`,
      proxies === 0
        ? `If a proxy stands in front: ${SEPARATE} If none does, unset TESSERA_TRUST_PROXY.`
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
      `The proxy in front passes ${HEADER} on as the caller wrote it, and all callers share the address ${taken}.`,
      `${SEPARATE} Then set TESSERA_TRUST_PROXY=1.`,
    );
  }
  const stand = proxies === 1 ? 'One proxy stands' : `${proxies} proxies stand`;
  if (stopsShort(seen, noted)) {
    const effect =
      seen.trustProxy === false
        ? `all callers share the address of the proxy, ${peer}`
        : `callers are taken for ${taken}, and this one came from ${noted[0]}`;
    return say(
      `${stand} in front, and TESSERA_TRUST_PROXY is ${trust}: ${effect}.`,
      `Set TESSERA_TRUST_PROXY=${proxies}, or the addresses of the proxies (the nearest is ${peer}).`,
    );
  }
  const about = proxies === 0 ? 'No proxy stands in front' : `${stand} in front`;
  const findings = [
    ok('proxy-headers', `${about}, and the service takes ${taken} for this caller (TESSERA_TRUST_PROXY is ${trust}).`),
  ];
  // Nothing rests on it here: the base URL decides. Other programs behind the same proxy may be less lucky.
  if (seen.host !== host) {
    findings.push(
      ok(
        'proxy-headers',
        `The proxy sends Host: ${seen.host ?? 'nothing'} instead of ${host}. Tessera goes by its base URL alone.`,
      ),
    );
  }
  return findings;
}

/**
 * Whether the service ends at one of the proxies instead of the caller whom the outermost noted. Their number tells it also
 * where the command runs on the machine of the proxy, and both have one address.
 */
function stopsShort({ trustProxy, address }: ProbeReport, noted: readonly string[]): boolean {
  if (noted.length === 0) return false;
  if (typeof trustProxy === 'number') return trustProxy < noted.length;
  return trustProxy === false || address !== (parseForwardedEntry(noted[0] ?? '')?.address ?? null);
}

/** A number of proxies is counted from whoever connects: who comes past them is believed too. */
function exposure({ trustProxy, host, port }: Config): Finding[] {
  if (typeof trustProxy !== 'number' || trustProxy === 0 || isLoopback(host) || host === '::1') return [];
  return [
    warning(
      'proxy-headers',
      `TESSERA_TRUST_PROXY is a number, and the server listens on ${host}: who reaches port ${port} past the proxy can choose their address.`,
      'Let only the proxy reach that port, or name the addresses of the proxies in TESSERA_TRUST_PROXY.',
    ),
  ];
}
