import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { record } from '../../audit/audit.ts';
import { hidden } from '../../pages/components.ts';
import { type HtmlPart, html } from '../../pages/html.ts';
import type { Page, Site } from '../../pages/layout.ts';
import { Failure } from '../../platform/failure.ts';
import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import { consolePage, type Section } from '../layout.ts';
import type { ConsoleVisit } from '../visit.ts';
import { EXPORT_FORMATS, type ExportFormat, endedOf, headerOf, mediaTypeOf, rowOf } from './rows.ts';

/** Rows of a list, and the id after which it goes on. */
export interface ExportedPage {
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  readonly next: string | undefined;
}

/** A list that is exported. */
export interface ExportedList {
  /** What it is a list of: the name of the file, and of the list in the audit trail. */
  readonly list: 'events' | 'people';
  readonly columns: readonly string[];
  /** What is filtered by, for the audit trail. */
  readonly filter: Readonly<Record<string, string>>;
  /** The first place in the list. */
  readonly start: string;
  /** Reads on from a place, by the database of the operator: what they may read is checked each time. */
  read(after: string): Promise<ExportedPage>;
}

export const formatIn = (given: Pick<RepeatableParameters, 'get'>): ExportFormat =>
  EXPORT_FORMATS.find((format) => format === given.get('format')) ?? 'csv';

/** Sends a list as a file, while it is read. That it is exported is on record before the first row is. */
export async function sendExport(
  reply: FastifyReply,
  { services, origin }: ConsoleVisit,
  list: ExportedList,
  format: ExportFormat,
): Promise<FastifyReply> {
  const { database, clock } = services;
  const details = { list: list.list, format, filter: list.filter };
  await database.commit(() => record({ at: clock(), type: 'list.exported', origin, details }));
  const day = new Date(clock()).toISOString().slice(0, 10);
  reply
    .type(mediaTypeOf(format))
    .header('content-disposition', `attachment; filename="${list.list}-${day}.${format}"`)
    .header('cache-control', 'no-store');
  return reply.send(Readable.from(linesOf(list, format), { objectMode: false }));
}

/** The lines of the file. What ends the role or the session of the operator ends it, with a line that says so. */
async function* linesOf({ columns, start, read }: ExportedList, format: ExportFormat): AsyncGenerator<string> {
  yield headerOf(format, columns);
  for (let after: string | undefined = start; after !== undefined; ) {
    let page: ExportedPage;
    try {
      page = await read(after);
    } catch (error) {
      // Whatever else happens breaks the connection off, which the browser reports.
      if (!(error instanceof Failure)) throw error;
      return yield endedOf(format, error.message);
    }
    yield page.rows.map((row) => rowOf(format, columns, row)).join('');
    after = page.next;
  }
}

interface ExportQuestion {
  readonly section: Section;
  readonly address: string;
  readonly title: string;
  /** What the file will have. */
  readonly lead: HtmlPart;
  readonly about: Readonly<Record<string, string>>;
  readonly back: string;
}

/** Asks in which format. */
export function exportPage(site: Site, visit: ConsoleVisit, question: ExportQuestion): Page {
  const { messages, path } = site;
  const { exports: text, cancel } = messages.operators;
  const { section, address, title, lead, about, back } = question;
  const content = html`<header class="object"><h1>${title}</h1><p class="muted">${lead}</p></header>
<section class="card"><p>${text.lead}</p>
<form method="post" action="${path(address)}" data-file>${hidden(visit.token, about)}<div class="actions"><button class="primary" type="submit" name="format" value="csv">${text.csv}</button><button class="equal" type="submit" name="format" value="jsonl">${text.jsonl}</button><a href="${path(back)}">${cancel}</a></div></form></section>`;
  return consolePage(site, visit, { section, title, content });
}
