import type { FastifyInstance } from 'fastify';
import { type Site, sendPage } from '../pages/layout.ts';
import { HOUR, SECOND } from '../platform/clock.ts';
import { AREAS, type Area } from '../platform/http/operation.ts';
import { type DescribedRoute, openApiDocument } from './document.ts';
import { type ApiReference, areaPage, areaPath, DOCUMENT_PATH, overviewPage, REFERENCE_PATH } from './pages.ts';

interface ReferenceOptions {
  readonly issuer: string;
  readonly site: Site;
  /** The routes of this server. The list is complete once all plugins are registered. */
  readonly described: readonly DescribedRoute[];
}

/** Serves the API document and its pages. The document is built on the first request, so that it does not delay the start. */
export function referenceRoutes(app: FastifyInstance, { issuer, site, described }: ReferenceOptions): void {
  let cached: (ApiReference & { readonly text: string }) | undefined;
  const reference = () => {
    if (cached === undefined) {
      const document = openApiDocument(described, { issuer });
      cached = { site, issuer, described, document, text: JSON.stringify(document) };
    }
    return cached;
  };

  app.get(DOCUMENT_PATH, { exposeHeadRoute: true, config: { readers: 'anyone' } }, async (_request, reply) =>
    reply
      .header('access-control-allow-origin', '*')
      .header('cache-control', `public, max-age=${HOUR / SECOND}`)
      .type('application/json')
      .send(reference().text),
  );
  app.get(REFERENCE_PATH, (_request, reply) => sendPage(reply, 200, site, overviewPage(reference())));
  for (const area of Object.keys(AREAS) as Area[]) {
    app.get(areaPath(area), (_request, reply) => sendPage(reply, 200, site, areaPage(reference(), area)));
  }
}
