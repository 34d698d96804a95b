import { encodeCursor } from '../admin/paging.ts';
import { ConfigError } from '../platform/config/config-error.ts';
import { invalid } from '../platform/failure.ts';
import { isSnowflake } from '../platform/ids/ids.ts';
import type { PageOptions } from './pages.ts';
import { readServer, sendToServer } from './remote.ts';
import type { ApiRequest, Send } from './send.ts';
import { environment, type GlobalFlags, withCore } from './session.ts';

type Query = Readonly<Record<string, string | number | undefined>>;

interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** The most items of a page. */
const PAGE_SIZE = 200;

/** Makes a path, in which each value is one segment. */
export const path = (texts: TemplateStringsArray, ...values: readonly string[]): string =>
  String.raw({ raw: texts }, ...values.map(encodeURIComponent));

function withQuery(to: string, query: Query): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return given.length === 0 ? to : `${to}?${new URLSearchParams(given)}`;
}

/** The ID after which a list begins. */
function startOf(after: string | undefined): string | undefined {
  if (after === undefined || after === '0') return undefined;
  if (!isSnowflake(after)) throw invalid('--after must be an ID.');
  return encodeCursor(after);
}

/** The admin API, as commands call it. The types are those of the views that the routes answer with. */
function apiOf(send: Send) {
  const call = async <T>(request: ApiRequest): Promise<T> => (await send(request)).body as T;
  const get = <T>(to: string, query: Query = {}) => call<T>({ method: 'GET', path: withQuery(to, query) });
  const writing =
    (method: 'POST' | 'PUT' | 'PATCH' | 'DELETE') =>
    <T = undefined>(to: string, body?: object) =>
      call<T>({ method, path: to, body });
  return {
    get,
    post: writing('POST'),
    put: writing('PUT'),
    patch: writing('PATCH'),
    delete: <T = undefined>(to: string, query: Query = {}) => writing('DELETE')<T>(withQuery(to, query)),
    putFile: <T>(to: string, file: Uint8Array) => call<T>({ method: 'PUT', path: to, file }),
    /** Changes a record by what it is now. If somebody else changes it in between, nothing is changed. */
    async change<T>(to: string, changeOf: (record: T) => object): Promise<T> {
      const { body, etag } = await send({ method: 'GET', path: to });
      return call<T>({ method: 'PATCH', path: to, body: changeOf(body as T), ifMatch: etag });
    },
    /** Reads a list page by page: from the item after `after`, and at most `limit` items. */
    async list<T>(
      to: string,
      { limit = Number.POSITIVE_INFINITY, after }: PageOptions,
      query: Query = {},
    ): Promise<T[]> {
      const found: T[] = [];
      for (let cursor = startOf(after); ; ) {
        const wanted = Math.min(PAGE_SIZE, limit - found.length);
        const { items, nextCursor } = await get<Page<T>>(to, { ...query, limit: wanted, cursor });
        found.push(...items);
        if (nextCursor === null || found.length >= limit) return found;
        cursor = nextCursor;
      }
    },
    /** Reads a list that has one page. */
    items: async <T>(to: string): Promise<readonly T[]> => (await get<Page<T>>(to)).items,
  };
}

export type Api = ReturnType<typeof apiOf>;

interface ApiOptions {
  /** Whether to create the database of this machine if it does not exist. */
  readonly mayBeNew?: boolean;
  /** Whether the last owner may go, which only the command line on the server may decide. */
  readonly lastOwner?: boolean | undefined;
}

/**
 * Calls the admin API: of the server that `--server` names, as an operator; otherwise in this process, on the data of this machine, where
 * no operator's rights limit it. Commands are the same either way.
 */
export async function withApi<T>(
  flags: GlobalFlags,
  work: (api: Api) => Promise<T>,
  { mayBeNew = false, lastOwner = false }: ApiOptions = {},
): Promise<T> {
  const server = readServer(environment(flags));
  if (server === undefined) {
    // Imported on demand: a command at another server needs no routes.
    const { sendInProcess } = await import('./in-process.ts');
    return withCore(flags, async (core) => work(apiOf(await sendInProcess(core, { lastOwner }))), { mayBeNew });
  }
  if (lastOwner) throw new ConfigError(['--last-owner works only on the server itself, without --server.']);
  return work(apiOf(sendToServer(server)));
}
