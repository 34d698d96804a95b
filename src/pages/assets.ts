import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { FastifyInstance, FastifyRequest } from 'fastify';

interface Asset {
  readonly path: string;
  readonly type: string;
  readonly body: Buffer;
  /** The body in each coding, the smallest first. */
  readonly compressed: readonly (readonly [coding: 'br' | 'gzip', body: Buffer])[];
}

/** A style sheet without comments and without white space around its punctuation. Its strings must contain neither. */
export const compactStyle = (css: string): string =>
  css
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s*([{};,])\s*/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** A script without indentation and without the lines that hold comments alone. No template literal may span lines. */
export const compactScript = (script: string): string =>
  script
    .replaceAll(/^\s*\/\*\*.*?\*\/$/gms, '')
    .replaceAll(/^\s*\/\/.*$/gm, '')
    .replaceAll(/^\s+/gm, '');

const COMPACT: Readonly<Record<string, (text: string) => string>> = { css: compactStyle, js: compactScript };

function load(file: string, type: string): Asset {
  const content = readFileSync(new URL(`./assets/${file}`, import.meta.url), 'utf8');
  const [name, extension = ''] = file.split('.');
  const body = Buffer.from(COMPACT[extension]?.(content) ?? content);
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 12);
  const compressed = [
    ['br', brotliCompressSync(body)],
    ['gzip', gzipSync(body, { level: 9 })],
  ] as const;
  return { path: `/assets/${name}.${hash}.${extension}`, type, body, compressed };
}

/** The static files of the pages. Their names contain a hash of their content, so browsers may cache them forever. */
export const assets = {
  style: load('style.css', 'text/css; charset=utf-8'),
  playground: load('playground.css', 'text/css; charset=utf-8'),
  operators: load('operators.css', 'text/css; charset=utf-8'),
  script: load('script.js', 'text/javascript; charset=utf-8'),
  strength: load('strength.js', 'text/javascript; charset=utf-8'),
  passkeys: load('passkeys.js', 'text/javascript; charset=utf-8'),
  picture: load('picture.js', 'text/javascript; charset=utf-8'),
  follow: load('follow.js', 'text/javascript; charset=utf-8'),
  operatorsScript: load('operators.js', 'text/javascript; charset=utf-8'),
  icon: load('icon.svg', 'image/svg+xml'),
};

/** RFC 9110 §12.5.3: whether a client accepts a coding, which it may refuse with `q=0`. */
function accepts({ headers }: FastifyRequest, coding: string): boolean {
  const [weight] = String(headers['accept-encoding'] ?? '')
    .split(',')
    .map((part) => part.trim().split(/\s*;\s*q=/))
    .filter(([name]) => name?.toLowerCase() === coding)
    .map(([, q = '1']) => Number(q));
  return weight !== undefined && weight > 0;
}

export function serveAssets(app: FastifyInstance): void {
  for (const { path, type, body, compressed } of Object.values(assets)) {
    app.get(path, async (request, reply) => {
      reply.type(type).header('cache-control', 'public, max-age=31536000, immutable').header('vary', 'accept-encoding');
      const found = compressed.find(([coding]) => accepts(request, coding));
      if (found === undefined) return reply.send(body);
      const [coding, bytes] = found;
      return reply.header('content-encoding', coding).send(bytes);
    });
  }
}
