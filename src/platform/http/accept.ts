import type { FastifyRequest } from 'fastify';

interface Preference {
  /** How specific the range is: 0 for the media type itself, 1 for `type/*`, 2 for any type, 3 if no range matches. */
  readonly rank: number;
  readonly q: number;
}

/** How an Accept header prefers a media type: the most specific matching range decides (RFC 9110 §12.5.1). */
function preferenceFor(type: string, accept: string): Preference {
  const ranges = [type, type.replace(/\/.*/, '/*'), '*/*'];
  let best: Preference = { rank: ranges.length, q: 0 };
  for (const range of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    const rank = ranges.indexOf(name);
    if (rank < 0 || rank >= best.rank) continue;
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    best = { rank, q: q === undefined ? 1 : Number(q.slice(2)) || 0 };
  }
  return best;
}

/** Whether to answer with a page where both a page and JSON are possible: unless the client prefers JSON, or names only JSON. */
export function wantsHtml({ headers: { accept = '*/*' } }: FastifyRequest): boolean {
  const html = preferenceFor('text/html', accept);
  const json = preferenceFor('application/json', accept);
  return html.q > json.q || (html.q === json.q && html.rank <= json.rank);
}

/** Whether the client names `text/html` itself, as browsers do for navigation and programs rarely do. */
export function namesHtml(request: FastifyRequest): boolean {
  const { rank, q } = preferenceFor('text/html', request.headers.accept ?? '');
  return rank === 0 && q > 0 && wantsHtml(request);
}
