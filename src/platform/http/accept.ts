import type { FastifyRequest } from 'fastify';

interface Quality {
  /** 0 where the type is named itself, then `type/*`, then any type; 3 where nothing covers it. */
  readonly rank: number;
  readonly q: number;
}

/** What an Accept header gives to a type: the most specific range decides (RFC 9110 §12.5.1). */
function qualityOf(accept: string, type: string): Quality {
  const ranges = [type, type.replace(/\/.*/, '/*'), '*/*'];
  let best: Quality = { rank: ranges.length, q: 0 };
  for (const range of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    const rank = ranges.indexOf(name);
    if (rank < 0 || rank >= best.rank) continue;
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    best = { rank, q: q === undefined ? 1 : Number(q.slice(2)) || 0 };
  }
  return best;
}

/** Whether a page suits the caller where pages are what there is: unless it would rather have JSON, or names that alone. */
export function wantsHtml({ headers: { accept = '*/*' } }: FastifyRequest): boolean {
  const html = qualityOf(accept, 'text/html');
  const json = qualityOf(accept, 'application/json');
  return html.q > json.q || (html.q === json.q && html.rank <= json.rank);
}

/** Whether the caller asks for pages by name, as browsers do for what a person opens, and as programs seldom do. */
export function namesHtml(request: FastifyRequest): boolean {
  const { rank, q } = qualityOf(request.headers.accept ?? '', 'text/html');
  return rank === 0 && q > 0 && wantsHtml(request);
}
