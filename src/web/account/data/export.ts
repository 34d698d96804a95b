import type { FastifyInstance, FastifyReply } from 'fastify';
import {
  currentExport,
  downloadExport,
  EXPORT_LIFETIME,
  requestExport,
} from '../../../account-actions/personal-data/export.ts';
import { EXPORT_PATH } from '../../../account-actions/personal-data/export-dispatcher.ts';
import { EXPORT_SECTIONS } from '../../../account-actions/personal-data/export-sections.ts';
import type { DataExport } from '../../../account-actions/personal-data/export-store.ts';
import { record } from '../../../audit/audit.ts';
import {
  fact,
  facts,
  generalProblem,
  hidden,
  moment,
  NO_PROBLEMS,
  operator,
  type Problems,
  problemSummary,
} from '../../../pages/components.ts';
import { type Html, html } from '../../../pages/html.ts';
import { type Site, sendPage } from '../../../pages/layout.ts';
import { pictureType } from '../../../pictures/pictures.ts';
import { readPicture } from '../../../pictures/store.ts';
import type { Work } from '../../../platform/database/database.ts';
import { Failure } from '../../../platform/failure.ts';
import { formOf } from '../../../platform/http/bodies.ts';
import { redirect } from '../../../platform/http/server.ts';
import type { PageServices } from '../../sign-in/routes.ts';
import { type AccountFrame, accountLayout } from '../layout.ts';
import { type ProofState, proofGate, readProof, requireProof } from '../proof.ts';
import { type AccountHooks, type AccountVisit, frameOf, servicesIn, visitOf } from '../visit.ts';

const DOWNLOAD = `${EXPORT_PATH}/download`;

interface ExportPage extends AccountFrame {
  readonly proof: ProofState;
}

/** The page on which people ask for a copy of their data, see how far it is, and download it. */
export function exportRoutes(app: FastifyInstance, services: PageServices, { countForm }: AccountHooks): void {
  const { site, database, clock } = services;
  const { messages } = site;
  const text = messages.data.export;
  const proved = requireProof(services, 'export');

  async function show(
    reply: FastifyReply,
    status: number,
    visit: AccountVisit,
    problems: Problems = NO_PROBLEMS,
  ): Promise<FastifyReply> {
    const found = await database.read(() => currentExport(visit.account, clock()));
    const page = { ...frameOf(visit), proof: await readProof(services, visit) };
    const content = html`<header><h1>${text.title}</h1><p class="muted">${text.lead}</p></header>
${problemSummary(messages, problems)}
${exportState(site, page, found)}`;
    const shown = accountLayout(site, page, 'data', text.title, content, problems);
    return sendPage(reply, status, site, found?.state === 'waiting' ? { ...shown, scripts: ['follow'] } : shown);
  }

  app.get(EXPORT_PATH, async (request, reply) => show(reply, 200, visitOf(request)));

  // What is asked for is counted by a limit of its own; asking while one is being made costs no more than the page.
  app.post(EXPORT_PATH, { preHandler: proved }, async (request, reply) => {
    const visit = visitOf(request);
    const wait = await requestExport(services, visit);
    if (wait > 0) {
      reply.header('retry-after', String(wait));
      return show(reply, 429, visit, generalProblem(text.limited(wait)));
    }
    return redirect(request, reply, site.path(EXPORT_PATH));
  });

  app.post(DOWNLOAD, { preHandler: [countForm, proved] }, async (request, reply) => {
    const visit = visitOf(request);
    const form = formOf(request);
    reply.header('cache-control', 'no-store');
    if (form.get('file') === 'picture') {
      const name = visit.account.profile.picture ?? '';
      const picture = await downloadPicture(visit, name);
      if (picture === undefined) return show(reply, 409, visit, generalProblem(text.gone));
      return reply
        .header('content-disposition', `attachment; filename="picture.${name.endsWith('.png') ? 'png' : 'jpg'}"`)
        .type(pictureType(name))
        .send(Buffer.from(picture));
    }
    try {
      const body = await downloadExport(services, visit);
      return await reply
        .header('content-disposition', 'attachment; filename="tessera-data.json"')
        .type('application/json')
        .send(body);
    } catch (error) {
      if (!(error instanceof Failure && error.kind === 'conflict')) throw error;
      return show(reply, 409, visit, generalProblem(text.gone));
    }
  });

  function downloadPicture(visit: AccountVisit, name: string): Promise<Uint8Array | undefined> {
    const { account, origin } = visit;
    const now = clock();
    return servicesIn(services, visit).database.commit(function* download(): Work<Uint8Array | undefined> {
      const picture = yield* readPicture({ name });
      if (picture === undefined) return undefined;
      const details = { file: 'picture' };
      yield* record({ at: now, type: 'export.downloaded', origin, accountId: account.id, details });
      return picture;
    });
  }
}

/** What there is of an export, and what can be done next. */
function exportState(site: Site, page: ExportPage, found: DataExport | undefined): Html {
  const { messages, path } = site;
  const text = messages.data.export;
  const { token, proof, account } = page;
  const ask = (label: string) =>
    html`<form method="post" action="${path(EXPORT_PATH)}">${hidden(token)}<div><button class="${found?.state === 'ready' ? 'equal' : 'primary'}" type="submit">${label}</button></div></form>`;
  if (found === undefined)
    return html`<section class="card" data-follow>${proofGate(site, proof, 'export', ask(text.ask))}</section>`;
  if (found.state === 'failed') {
    return html`<section class="card" data-follow><p>${text.failed(operator(site))}</p>${proofGate(site, proof, 'export', ask(text.again))}</section>`;
  }
  if (found.state === 'waiting') {
    const all = EXPORT_SECTIONS.length + 1;
    const made = Math.min(found.pieces, EXPORT_SECTIONS.length);
    return html`<section class="card" data-follow aria-labelledby="progress"><h2 id="progress">${text.waiting}</h2>
<progress value="${made}" max="${all}" aria-labelledby="progress"></progress>
<p role="status">${text.progress(made, all, found.events)}</p><p class="muted small">${text.waitingLead}</p><div><a class="button" href="${path(EXPORT_PATH)}">${text.check}</a></div></section>`;
  }
  const download = (file: string, label: string, kind: string) =>
    html`<form method="post" action="${path(DOWNLOAD)}">${hidden(token, { file })}<button class="${kind}" type="submit">${label}</button></form>`;
  const buttons = html`<div class="actions">${download('data', text.download, 'primary')}${account.profile.picture !== null && download('picture', text.downloadPicture, 'equal')}</div>
<hr><p class="muted small">${text.againLead}</p>${ask(text.again)}`;
  return html`<section class="card" data-follow><h2>${text.ready}</h2>
${facts([
  fact(text.made, moment(found.createdAt)),
  fact(text.until, moment(found.createdAt + EXPORT_LIFETIME)),
  fact(text.size, text.kilobytes(Math.max(1, Math.ceil(found.bytes / 1024)))),
])}
${proofGate(site, proof, 'export', buttons)}</section>`;
}
