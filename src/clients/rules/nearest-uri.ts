import { isLoopback } from '../../platform/config/config.ts';

/** In what two addresses differ. */
export type Difference =
  | 'white space'
  | 'percent-encoding'
  | 'letter case'
  | 'slash at the end'
  | 'scheme'
  | 'user name'
  | 'host'
  | 'port'
  | 'path'
  | 'query'
  | 'fragment';

/** The registered address that is closest to one that came. */
export interface Nearest {
  readonly registered: string;
  readonly differences: readonly Difference[];
  /** Whether both are one address written in two ways, so that who sent the one knows the other. */
  readonly respelled: boolean;
}

/** RFC 3986 appendix B, with the authority in its parts. */
const PARTS =
  /^(?:(?<scheme>[^:/?#]+):)?(?:\/\/(?:(?<user>[^/?#]*)@)?(?<host>\[[^\]]*\]|[^:/?#]*)(?::(?<port>[^/?#]*))?)?(?<path>[^?#]*)(?:\?(?<query>[^#]*))?(?:#(?<fragment>.*))?$/s;

const part = (uri: string, name: string): string | undefined => PARTS.exec(uri)?.groups?.[name];

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What makes two texts differ that say the same; undefined where they do not. */
function respelling(a = '', b = ''): readonly Difference[] | undefined {
  if (a === b) return [];
  if (decode(a) === decode(b)) return ['percent-encoding'];
  if (a.toLowerCase() === b.toLowerCase()) return ['letter case'];
  return decode(a).toLowerCase() === decode(b).toLowerCase() ? ['letter case', 'percent-encoding'] : undefined;
}

interface Compared {
  readonly differences: readonly Difference[];
  /** How many of them make it another address. */
  readonly others: number;
}

const same = (differences: readonly Difference[]): Compared => ({ differences, others: 0 });
const other = (difference: Difference): Compared => ({ differences: [difference], others: 1 });

function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === '/') end--;
  return path.slice(0, end);
}

const comparePaths = (a = '', b = ''): Compared => {
  const bare = respelling(withoutSlashes(a), withoutSlashes(b));
  if (bare === undefined) return other('path');
  const slashes = a.length - withoutSlashes(a).length === b.length - withoutSlashes(b).length;
  return same(slashes ? bare : [...bare, 'slash at the end']);
};

/** Behind a proxy an app often takes itself for one on http; the names of this machine are one place. */
function compareHosts(a = '', b = ''): Compared {
  const found = respelling(a, b) ?? (isLoopback(a) && isLoopback(b) ? (['host'] as const) : undefined);
  return found === undefined ? other('host') : same(found);
}

function compareSchemes(a = '', b = ''): Compared {
  const found = respelling(a, b) ?? (/^https?$/i.test(a) && /^https?$/i.test(b) ? (['scheme'] as const) : undefined);
  return found === undefined ? other('scheme') : same(found);
}

function comparePorts(a: string | undefined, b: string | undefined, scheme = ''): Compared {
  const initial = /^https$/i.test(scheme) ? '443' : '80';
  if (a === b) return same([]);
  return (a || initial) === (b || initial) ? same(['port']) : other('port');
}

function compare(sent: string, registered: string): Compared {
  if (decode(sent) === registered) return same(['percent-encoding']);
  const clean = sent.replace(/[\s\p{C}]/gu, '');
  const [a, b] = [(name: string) => part(clean, name), (name: string) => part(registered, name)];
  const plain = (name: 'user' | 'query' | 'fragment', difference: Difference): Compared => {
    const found = respelling(a(name), b(name));
    if (found === undefined) return other(difference);
    // There, but empty.
    return same(found.length === 0 && a(name) !== b(name) ? [difference] : found);
  };
  const parts = [
    same(clean === sent ? [] : ['white space']),
    compareSchemes(a('scheme'), b('scheme')),
    plain('user', 'user name'),
    compareHosts(a('host'), b('host')),
    comparePorts(a('port'), b('port'), b('scheme')),
    comparePaths(a('path'), b('path')),
    plain('query', 'query'),
    plain('fragment', 'fragment'),
  ];
  const differences = [...new Set(parts.flatMap((compared) => compared.differences))];
  return {
    // What no part shows, such as a slash too few before the host.
    differences: differences.length > 0 ? differences : ['path'],
    others: parts.reduce((sum, { others }) => sum + others, 0),
  };
}

/** Of the registered addresses the one in which the fewest parts differ; undefined where none is registered. */
export function nearestUri(sent: string, registered: readonly string[]): Nearest | undefined {
  let best: (Nearest & Pick<Compared, 'others'>) | undefined;
  for (const uri of registered) {
    const { differences, others } = compare(sent, uri);
    const closer =
      best === undefined ||
      others < best.others ||
      (others === best.others && differences.length < best.differences.length);
    if (closer) best = { registered: uri, differences, others, respelled: others === 0 };
  }
  return best && { registered: best.registered, differences: best.differences, respelled: best.respelled };
}
