import type { MetadataCopy } from '../../clients/metadata-clients.ts';
import { documentLifetime, hasHost, readDocument } from '../../clients/rules/metadata-document.ts';
import { type Clock, SECOND } from '../../platform/clock.ts';
import { hostOf } from '../../platform/domain-name.ts';
import { type Outgoing, type OutgoingAnswer, OutgoingFailed } from '../../platform/http/outgoing.ts';
import { BOUNDS_FOR_STRANGERS, sharedFetches } from '../../platform/http/shared-fetches.ts';

/** draft-ietf-oauth-client-id-metadata-document-03 §8.7 recommends it. */
const LARGEST_DOCUMENT = 5 * 1024;
const TIMEOUT = 5 * SECOND;
/** After a failed request, none is made for the same URL for this long. */
const FAILURE_PAUSE = 30 * SECOND;
/** How many copies and failures are kept; the oldest one makes room. */
const MOST_KEPT = 1000;

/** Why there is no current copy of a document. */
export interface MetadataFailure {
  /** Whether the document may be read later; if not, the client is refused as one that is not known. */
  readonly isPassing: boolean;
  /** A sentence for developers. */
  readonly description: string;
  /** What to do, where another document would not help. */
  readonly remedy?: string;
}

/** The metadata documents of clients, with copies of what was fetched in this process. */
export interface MetadataDocuments {
  /** The copy of a document, while it may be used. */
  kept(url: string): MetadataCopy | undefined;
  /** A failure whose pause is not over, so that nothing is asked again. */
  failure(url: string): MetadataFailure | undefined;
  /** Fetches a document. Callers that need the same one at the same time share the request. */
  fetch(url: string): Promise<MetadataCopy | MetadataFailure>;
}

type Kept = { readonly copy: MetadataCopy } | { readonly failure: MetadataFailure; readonly until: number };

/** @param listed the domains of TESSERA_CLIENT_METADATA_DOMAINS, which may be in the operator's own networks */
export function createMetadataDocuments(ask: Outgoing, clock: Clock, listed: readonly string[]): MetadataDocuments {
  const cache = new Map<string, Kept>();
  const fetches = sharedFetches<MetadataCopy | MetadataFailure>(BOUNDS_FOR_STRANGERS);

  function keep(url: string, result: MetadataCopy | MetadataFailure): MetadataCopy | MetadataFailure {
    cache.delete(url);
    cache.set(url, 'url' in result ? { copy: result } : { failure: result, until: clock() + FAILURE_PAUSE });
    const [oldest] = cache.keys();
    if (cache.size > MOST_KEPT && oldest !== undefined) cache.delete(oldest);
    return result;
  }

  function kept(url: string): MetadataCopy | undefined {
    const found = cache.get(url);
    return found !== undefined && 'copy' in found && found.copy.expiresAt > clock() ? found.copy : undefined;
  }

  function failure(url: string): MetadataFailure | undefined {
    const found = cache.get(url);
    return found !== undefined && 'failure' in found && found.until > clock() ? found.failure : undefined;
  }

  return {
    kept,
    failure,
    fetch(url) {
      // While this caller was counted, another one's request may have been answered.
      const known = kept(url) ?? failure(url);
      if (known !== undefined) return Promise.resolve(known);
      const publicOnly = !hasHost(listed, hostOf(url));
      const read = async () => keep(url, await readMetadata(ask, { url, publicOnly }, clock));
      return fetches.fetch(url, read) ?? Promise.resolve(BUSY);
    },
  };
}

const BUSY: MetadataFailure = { isPassing: true, description: 'Too many metadata documents are being fetched.' };

const failed = (isPassing: boolean, description: string): MetadataFailure => ({ isPassing, description });

async function readMetadata(
  ask: Outgoing,
  { url, publicOnly }: { readonly url: string; readonly publicOnly: boolean },
  clock: Clock,
): Promise<MetadataCopy | MetadataFailure> {
  const headers = { accept: 'application/json' };
  let answer: OutgoingAnswer;
  try {
    answer = await ask({ method: 'GET', url, publicOnly, headers, longestBody: LARGEST_DOCUMENT, timeoutMs: TIMEOUT });
  } catch (error) {
    if (!(error instanceof OutgoingFailed)) throw error;
    return failed(true, `The metadata document could not be fetched: ${error.message}.`);
  }
  // §5: a redirect is an error like any other status but 200.
  if (answer.status !== 200) {
    return failed(
      answer.status >= 500,
      `The metadata document was answered with the status ${answer.status}, not 200.`,
    );
  }
  if (!isJson(answer.headers['content-type'])) {
    return failed(false, 'The metadata document must have the content type application/json.');
  }
  const fields = readDocument(parseJson(answer.body), url);
  if ('problem' in fields) return failed(false, fields.problem);
  const text = (name: string) => [answer.headers[name] ?? ''].flat().join(',');
  return { url, fields, expiresAt: clock() + documentLifetime(text('cache-control'), text('age')) };
}

/** §4: `application/json`, or another type of JSON. */
const isJson = (type: string | string[] | undefined): boolean =>
  typeof type === 'string' && /^application\/([\w.+-]+\+)?json *(;|$)/i.test(type);

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}
