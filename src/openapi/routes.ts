import type { FastifyInstance } from 'fastify';
import { HOUR, SECOND } from '../clock.ts';
import { type DescribedRoute, type OpenApiDocument, openApiDocument } from './document.ts';

export const DOCUMENT_PATH = '/openapi.json';

interface ReferenceParts {
  readonly issuer: string;
  /** The routes of this server: all of them are known when the first request comes. */
  readonly described: readonly DescribedRoute[];
}

/** The API document. It is made when it is first asked for, so that no start waits for it. */
export function referenceRoutes(app: FastifyInstance, { issuer, described }: ReferenceParts): void {
  let made: { readonly document: OpenApiDocument; readonly text: string } | undefined;
  const reference = () => {
    if (made === undefined) {
      const document = openApiDocument(described, { issuer });
      made = { document, text: JSON.stringify(document) };
    }
    return made;
  };

  app.get(DOCUMENT_PATH, { exposeHeadRoute: true, config: { readers: 'anyone' } }, async (_request, reply) =>
    reply
      .header('access-control-allow-origin', '*')
      .header('cache-control', `public, max-age=${HOUR / SECOND}`)
      .type('application/json')
      .send(reference().text),
  );
}
