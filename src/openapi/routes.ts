import type { FastifyInstance } from 'fastify';
import { HOUR, SECOND } from '../platform/clock.ts';
import { AREAS, type Area } from '../platform/http/operation.ts';
import { type Site, sendPage } from '../web/kit/layout.ts';
import { type DescribedRoute, openApiDocument } from './document.ts';
import { areaPage, areaPath, DOCUMENT_PATH, overviewPage, REFERENCE_PATH, type Shown } from './pages.ts';

interface ReferenceParts {
  readonly issuer: string;
  readonly site: Site;
  /** The routes of this server: all of them are known when the first request comes. */
  readonly described: readonly DescribedRoute[];
}

/** The API document, and its pages. They are made when they are first asked for, so that no start waits for them. */
export function referenceRoutes(app: FastifyInstance, { issuer, site, described }: ReferenceParts): void {
  let made: (Shown & { readonly text: string }) | undefined;
  const shown = () => {
    if (made === undefined) {
      const document = openApiDocument(described, { issuer });
      made = { site, issuer, described, document, text: JSON.stringify(document) };
    }
    return made;
  };

  app.get(DOCUMENT_PATH, { exposeHeadRoute: true, config: { readers: 'anyone' } }, async (_request, reply) =>
    reply
      .header('access-control-allow-origin', '*')
      .header('cache-control', `public, max-age=${HOUR / SECOND}`)
      .type('application/json')
      .send(shown().text),
  );
  app.get(REFERENCE_PATH, (_request, reply) => sendPage(reply, 200, site, overviewPage(shown())));
  for (const area of Object.keys(AREAS) as Area[]) {
    app.get(areaPath(area), (_request, reply) => sendPage(reply, 200, site, areaPage(shown(), area)));
  }
}
