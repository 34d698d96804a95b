import { isLoopback } from '../../platform/config/loopback.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Client } from '../store.ts';
import { type DeveloperAdvice, type NearestUri, readClient, type UriDifference } from './developer-advice.ts';
import { isRegisteredUri, redirectUriProblem } from './redirect-uri.ts';

interface UnregisteredUri {
  readonly name: 'redirect_uri' | 'post_logout_redirect_uri';
  readonly sent: string;
  readonly registered: readonly string[];
  /** Whether the service runs on the developer's own machine. */
  readonly local: boolean;
}

/** No longer URI can be registered. */
const MAX_COMPARED = 2048;

/**
 * DeveloperAdvice for a URI that is not registered: docs/decisions/0013. A registered URI that differs only in spelling is told to
 * everyone, any other one only on a loopback base URL.
 */
export function explainUnregisteredUri(
  { id, name: app, type }: Pick<Client, 'id' | 'name' | 'type'>,
  { name, sent, registered, local }: UnregisteredUri,
): DeveloperAdvice {
  const closest = sent.length > MAX_COMPARED ? undefined : nearestUri(sent, registered);
  // With a scheme that no app may have, no registered address is close.
  const isOdd = /^(?!https?:)[a-z][a-z\d+-]*:(?!\d)/i.test(sent);
  const nearest = closest !== undefined && (closest.respelled || (local && !isOdd)) ? closest : undefined;
  const problem = redirectUriProblem(sent, type);
  const option = name === 'redirect_uri' ? '--add-redirect-uri' : '--add-post-logout-redirect-uri';
  const common = {
    description:
      `${name} is not one of those that are registered for this app. It must equal a registered one character for character: ` +
      'scheme, host, port, path, letter case and a slash at the end included.',
    expected: `a registered ${name}`,
    app,
    came: { name, value: sent },
    nearest,
    differences: closest?.differences ?? [],
  };
  // Not any percent-encoding: encoded as a whole, even the colon of its scheme is.
  if (nearest !== undefined && /^[^:/]*%3a/i.test(sent) && decode(sent) === nearest.registered) {
    return { ...common, remedy: `${name} was percent-encoded twice: encode it once.`, ...readClient(id) };
  }
  const byAddress = sent.replace(/^http:\/\/localhost(?=[:/?#]|$)/i, 'http://127.0.0.1');
  if (name === 'redirect_uri' && byAddress !== sent && isRegisteredUri(byAddress, registered, type)) {
    const remedy =
      'Use 127.0.0.1 in redirect_uri, not localhost; its port may differ for public apps. This lists the registered ones:';
    return { ...common, remedy, ...readClient(id) };
  }
  const send = nearest === undefined ? 'Send one that is registered' : 'Send the registered one';
  if (problem !== undefined) {
    const remedy = `${send}. This one cannot be registered, because it must ${problem}. This lists the registered ones:`;
    return { ...common, remedy, ...readClient(id) };
  }
  const field = name === 'redirect_uri' ? 'redirectUris' : 'postLogoutRedirectUris';
  const call = `PATCH /api/v2/admin/clients/${id}`;
  // Anyone may have put the URI into a link, so a command that registers it is given only on the developer's own machine.
  return local
    ? {
        ...common,
        remedy: `${send}, or add this one to ${field}:`,
        call,
        command: `tessera client update ${id} ${option} ${shellWord(sent)}`,
      }
    : {
        ...common,
        remedy: `${send}; or, if this one is the app’s own, add it to ${field} with ${call} or tessera client update ${id} ${option}. This lists the registered ones:`,
        ...readClient(id),
      };
}

/** The registered URI that differs in the fewest parts; undefined if none is registered. */
export function nearestUri(sent: string, registered: readonly string[]): NearestUri | undefined {
  let best: { readonly uri: string; readonly compared: UriComparison } | undefined;
  for (const uri of registered) {
    const compared = compareUris(sent, uri);
    if (best === undefined || isCloser(compared, best.compared)) best = { uri, compared };
  }
  if (best === undefined) return undefined;
  const { differences, distinct } = best.compared;
  return { registered: best.uri, differences, respelled: distinct === 0 };
}

interface UriComparison {
  readonly differences: readonly UriDifference[];
  /** How many of the differences make it another URI, and not only another spelling. */
  readonly distinct: number;
}

const isCloser = (a: UriComparison, b: UriComparison): boolean =>
  a.distinct < b.distinct || (a.distinct === b.distinct && a.differences.length < b.differences.length);

const respelled = (differences: readonly UriDifference[]): UriComparison => ({ differences, distinct: 0 });
const distinct = (difference: UriDifference): UriComparison => ({ differences: [difference], distinct: 1 });

/** RFC 3986 appendix B, with the parts of the authority. */
const PARTS =
  /^(?:(?<scheme>[^:/?#]+):)?(?:\/\/(?:(?<user>[^/?#]*)@)?(?<host>\[[^\]]*\]|[^:/?#]*)(?::(?<port>[^/?#]*))?)?(?<path>[^?#]*)(?:\?(?<query>[^#]*))?(?:#(?<fragment>.*))?$/s;

function compareUris(sent: string, registered: string): UriComparison {
  if (decode(sent) === registered) return respelled(['percent-encoding']);
  const clean = sent.replace(/[\s\p{C}]/gu, '');
  const [a, b] = [PARTS.exec(clean)?.groups ?? {}, PARTS.exec(registered)?.groups ?? {}];
  const parts = [
    respelled(clean === sent ? [] : ['white space']),
    compareSchemes(a['scheme'], b['scheme']),
    compareTexts(a['user'], b['user'], 'user name'),
    compareHosts(a['host'], b['host']),
    comparePorts(a['port'], b['port'], b['scheme']),
    comparePaths(a['path'], b['path']),
    compareTexts(a['query'], b['query'], 'query'),
    compareTexts(a['fragment'], b['fragment'], 'fragment'),
  ];
  const differences = [...new Set(parts.flatMap((part) => part.differences))];
  return {
    // Some differences are in no part, such as a missing slash before the host.
    differences: differences.length > 0 ? differences : ['path'],
    distinct: parts.reduce((sum, part) => sum + part.distinct, 0),
  };
}

/** How the spellings of two texts differ that mean the same; undefined if they do not mean the same. */
function respelling(a = '', b = ''): readonly UriDifference[] | undefined {
  if (a === b) return [];
  if (decode(a) === decode(b)) return ['percent-encoding'];
  if (a.toLowerCase() === b.toLowerCase()) return ['letter case'];
  return decode(a).toLowerCase() === decode(b).toLowerCase() ? ['letter case', 'percent-encoding'] : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function compareTexts(a: string | undefined, b: string | undefined, difference: UriDifference): UriComparison {
  const spelling = respelling(a, b);
  if (spelling === undefined) return distinct(difference);
  // An empty part and an absent one mean the same.
  return respelled(spelling.length === 0 && a !== b ? [difference] : spelling);
}

/** Behind a proxy an app often takes its own URL for one with http. */
function compareSchemes(a = '', b = ''): UriComparison {
  const areHttp = /^https?$/i.test(a) && /^https?$/i.test(b);
  const spelling = respelling(a, b) ?? (areHttp ? (['scheme'] as const) : undefined);
  return spelling === undefined ? distinct('scheme') : respelled(spelling);
}

/** All names of the loopback interface are one host. */
function compareHosts(a = '', b = ''): UriComparison {
  const spelling = respelling(a, b) ?? (isLoopback(a) && isLoopback(b) ? (['host'] as const) : undefined);
  return spelling === undefined ? distinct('host') : respelled(spelling);
}

function comparePorts(a: string | undefined, b: string | undefined, scheme = ''): UriComparison {
  if (a === b) return respelled([]);
  const initial = /^https$/i.test(scheme) ? '443' : '80';
  return (a || initial) === (b || initial) ? respelled(['port']) : distinct('port');
}

function comparePaths(a = '', b = ''): UriComparison {
  const spelling = respelling(withoutSlashes(a), withoutSlashes(b));
  if (spelling === undefined) return distinct('path');
  const sameSlashes = a.length - withoutSlashes(a).length === b.length - withoutSlashes(b).length;
  return respelled(sameSlashes ? spelling : [...spelling, 'slash at the end']);
}

function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}
