import { sslModeProblem, translateSslMode } from './ssl-mode.ts';

/** One server of a PostgreSQL address. */
export interface DatabaseHost {
  /** As people read it: `db1.example.com:5432`, or the folder of a socket. */
  readonly name: string;
  /** The name or address of the machine, or the folder of a socket. */
  readonly host: string;
  readonly port: number;
  /** The address of this server alone. */
  readonly url: string;
}

export type ServerAddress = { readonly hosts: readonly DatabaseHost[] } | { readonly problem: string };

const FORM =
  'must be sqlite:<path of a file> or postgres://<user>:<password>@<host>/<database>, with several hosts as <host>:<port>,<host>:<port>';

const ENCODING =
  'must have its user name and password percent-encoded, such as %23 for #, %2F for /, %3F for ? and %40 for @: otherwise a part of the password is taken for the host';

/** What libpq calls it that only a server that takes writes will do. */
const WRITABLE = ['read-write', 'primary'];

/** A name, an IPv4 address, an IPv6 address in brackets, or the encoded folder of a socket, and a port. */
const HOST = /^(\[[0-9a-f:.]+\]|[^\s:@[\]/]+)(?::(\d{1,5}))?$/i;

/**
 * Reads the address of a PostgreSQL database, with one host or several, as libpq writes them:
 * https://www.postgresql.org/docs/current/libpq-connect.html#LIBPQ-MULTIPLE-HOSTS
 * @returns the servers in the order of the address, or what is wrong with it
 */
export function readServerAddress(url: string): ServerAddress {
  const [, scheme, authority = '', path = '', query = ''] =
    /^(postgres(?:ql)?:\/\/)([^/]*)(\/[^/?]+[^?]*)(\?.*)?$/s.exec(url) ?? [];
  if (isCutByPassword(url)) return { problem: ENCODING };
  if (scheme === undefined) return { problem: FORM };
  const login = authority.slice(0, authority.lastIndexOf('@') + 1);
  const named = authority.slice(login.length).split(',');
  const parameters = new URLSearchParams(query);
  const listed = parameters.get('host')?.split(',');
  const several = named.length > 1 || (listed?.length ?? 0) > 1;
  const problem = problemOf(parameters, several) ?? sslModeProblem(parameters);
  if (problem !== undefined) return { problem };
  const translated = translateSslMode(parameters);
  // The driver reads no URL with a user and without a host, as libpq writes the address of a socket: postgres://user@/db?host=/run
  const isNamedLater = authority === login && login !== '' && listed !== undefined;
  if (!several) {
    const authorityOfDriver = isNamedLater ? `${login}localhost` : authority;
    return readSingle(translated || isNamedLater ? `${scheme}${authorityOfDriver}${path}?${parameters}` : url);
  }
  if (named.length > 1 && (listed !== undefined || parameters.has('port'))) {
    return { problem: 'must name its hosts once: either before the database, or as host= and port=' };
  }
  // Not for the driver, which knows one server at a time.
  for (const name of ['target_session_attrs', 'load_balance_hosts']) parameters.delete(name);
  const at = (authority: string, own: URLSearchParams): string =>
    `${scheme}${login}${authority}${path}${own.size > 0 ? `?${own}` : ''}`;
  const hosts: DatabaseHost[] = [];
  const ports = parameters.get('port')?.split(',') ?? [];
  if (ports.length > 1 && ports.length !== listed?.length) {
    return { problem: `must have one port for all hosts or one for each: port=${ports.join(',')}` };
  }
  for (const [index, text] of (listed ?? named).entries()) {
    const given = listed === undefined ? HOST.exec(text) : [text, text, ports[index] ?? ports[0]];
    const host = decode(given?.[1] ?? '');
    const port = Number(given?.[2] || 5432);
    if (host === undefined || host === '' || /[\s,]/.test(host) || !(port >= 1 && port <= 65_535)) {
      return { problem: `must name each host as <host> or <host>:<port>, and host ${index + 1} is not: "${text}"` };
    }
    const own = new URLSearchParams(parameters);
    if (listed !== undefined) {
      own.set('host', host);
      own.set('port', String(port));
    }
    const single = at(listed === undefined ? text : named[0] || 'localhost', own);
    if (!URL.canParse(single)) return { problem: FORM };
    const name = host.startsWith('/') ? `${host}:${port}` : `${host.includes(':') ? `[${host}]` : host}:${port}`;
    if (hosts.some((other) => other.name === name))
      return { problem: `must name each host once, and has ${name} twice` };
    hosts.push({ name, host, port, url: single });
  }
  return { hosts };
}

/**
 * Whether a character that ends the host or the whole address stands in the password: a fragment, which no address of a database has, or an
 * @ that follows what would be the host.
 */
function isCutByPassword(url: string): boolean {
  const [, authority = '', path = ''] = /^postgres(?:ql)?:\/\/([^/]*)([^?]*)/.exec(url) ?? [];
  if (url.includes('#')) return true;
  if (/\?.*@/.test(authority)) return true;
  return path.includes('@') && (!authority.includes('@') || path.lastIndexOf('/') > 0);
}

function problemOf(parameters: URLSearchParams, several: boolean): string | undefined {
  const target = parameters.get('target_session_attrs');
  // With one server, libpq's default says nothing.
  if (target !== null && !WRITABLE.includes(target) && (several || target !== 'any')) {
    return `must have target_session_attrs=read-write or none, not "${target}": Tessera reads and writes on the primary alone`;
  }
  const balance = parameters.get('load_balance_hosts');
  if (balance !== null && balance !== 'disable') {
    return `must not have load_balance_hosts=${balance}: Tessera reads and writes on the primary alone`;
  }
  return undefined;
}

function readSingle(url: string): ServerAddress {
  if (!URL.canParse(url)) return { problem: FORM };
  const { searchParams, hostname, port } = new URL(url);
  const host = searchParams.get('host') ?? decode(hostname) ?? hostname;
  const own = Number(searchParams.get('port') ?? port) || 5432;
  return { hosts: [{ name: host.startsWith('/') ? host : `${host}:${own}`, host, port: own, url }] };
}

/** A host as it is connected to: without the brackets of an IPv6 address, and with the slashes of a folder. */
function decode(host: string): string | undefined {
  try {
    return decodeURIComponent(host.replace(/^\[(.*)\]$/, '$1'));
  } catch {
    return undefined;
  }
}

/** The name of the database in a server's address, with its hosts, for people. */
export function describeServers(url: string): string {
  const address = readServerAddress(url);
  const database = /^[^/]+\/\/[^/]*(\/[^?]*)/.exec(url)?.[1] ?? '';
  return `${'hosts' in address ? address.hosts.map(({ name }) => name).join(',') : ''}${database}`;
}

/** An address without its password, to be printed. */
export function withoutPassword(url: string): string {
  if (url.startsWith('sqlite:')) return url;
  const [address = '', ...rest] = url.replace(/^([a-z]+:\/\/[^/:@]*):[^/]*@/i, '$1@').split('?');
  const parameters = new URLSearchParams(rest.join('?'));
  parameters.delete('password');
  return parameters.size > 0 ? `${address}?${parameters}` : address;
}
