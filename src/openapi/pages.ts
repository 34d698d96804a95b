import { type Html, type HtmlPart, html } from '../pages/html.ts';
import type { Page, Site } from '../pages/layout.ts';
import { errorCodes } from '../platform/error-codes.ts';
import { AREAS, type Area, type OperationExample } from '../platform/http/operation.ts';
import { curlOf } from './curl.ts';
import {
  type DescribedRoute,
  isCommon,
  type OpenApiDocument,
  type OperationObject,
  pathOf,
  type Reference,
  type ResponseObject,
} from './document.ts';
import type { Schema } from './schemas.ts';
import { kindOf, nameIn, objectId, prose } from './texts.ts';

/** Paths of the document and its pages, relative to the base URL. */
export const DOCUMENT_PATH = '/openapi.json';
export const REFERENCE_PATH = '/api';
export const areaPath = (area: Area): string => `${REFERENCE_PATH}/${area}`;

/** The API document and the routes that it was built from. */
export interface ApiReference {
  readonly site: Site;
  readonly issuer: string;
  readonly document: OpenApiDocument;
  readonly described: readonly DescribedRoute[];
}

type Text = Site['messages']['reference'];

const AREA_NAMES = Object.keys(AREAS) as readonly Area[];
const titleOf = (area: Area): string => AREAS[area][0];

function page({ site }: ApiReference, current: Area | undefined, title: string, content: Html): Page {
  const { path, messages } = site;
  const link = (address: string, text: string, here: boolean) =>
    html`<a href="${path(address)}"${here && html` aria-current="page"`}>${text}</a>`;
  const text = messages.reference;
  return {
    title,
    layout: 'wide',
    home: '/',
    body: html`<nav class="side" aria-label="${text.areas}">${link(REFERENCE_PATH, text.overview, current === undefined)}${AREA_NAMES.map(
      (area) => link(areaPath(area), titleOf(area), area === current),
    )}</nav><div class="stack">${content}</div>`,
  };
}

const ofArea = ({ described }: ApiReference, area: Area) => described.filter(({ schema }) => schema.area === area);

const callOf = ({ issuer }: ApiReference, route: DescribedRoute): Html =>
  html`<code class="call"><b>${route.method}</b> ${pathOf(route, issuer)}</code>`;

/** Lists all operations by area. */
export function overviewPage(reference: ApiReference): Page {
  const { site, document, issuer } = reference;
  const text = site.messages.reference;
  const areas = AREA_NAMES.map(
    (
      area,
    ) => html`<section class="card"><header><h2><a href="${site.path(areaPath(area))}">${titleOf(area)}</a></h2><p class="muted">${AREAS[area][1]}</p></header>
<ul class="calls">${ofArea(reference, area).map(
      (route) =>
        html`<li><a href="${site.path(areaPath(area))}#${route.schema.operationId}">${route.schema.summary}</a>${callOf(reference, route)}</li>`,
    )}</ul></section>`,
  );
  const schemes = Object.entries(document.components.securitySchemes).map(([name, scheme]) =>
    row(html`<code>${name}</code>`, undefined, prose((scheme as { readonly description: string }).description)),
  );
  const errors = Object.entries(errorCodes).map(([code, [status, when, remedy]]) =>
    row(html`<code id="${code}">${code}</code>`, status, [prose(when), ' ', prose(remedy)]),
  );
  return page(
    reference,
    undefined,
    text.title,
    html`<header><h1>${text.title}</h1><p>${prose(document.info.description)}</p>
<p>${text.base} <code>${issuer}</code>. ${text.machine} <a href="${site.path(DOCUMENT_PATH)}">openapi.json</a>.</p></header>
${areas}
<section class="card"><header><h2>${text.callers}</h2></header>${rows(schemes)}</section>
<section class="card"><header><h2>${text.errors}</h2><p class="muted">${prose(text.errorShape)}</p></header>${rows(errors)}</section>`,
  );
}

/** The operations of an area and the objects that they use. */
export function areaPage(reference: ApiReference, area: Area): Page {
  const routes = ofArea(reference, area);
  const objects = new NamedObjects(reference.document);
  const operations = routes.map((route) => operation(reference, route, objects));
  const text = reference.site.messages.reference;
  return page(
    reference,
    area,
    titleOf(area),
    html`<header><h1>${titleOf(area)}</h1><p class="muted">${AREAS[area][1]}</p></header>
${operations}${objects.all().map(([name, schema], index, all) => object(text, name, schema, all.slice(0, index)))}`,
  );
}

type Named = readonly [name: string, schema: Schema];

const propertiesOf = ({ properties = {} }: Schema) => properties as Readonly<Record<string, Schema>>;

/** A named object. Fields that it shares with an earlier object are listed as "same as in". */
function object(text: Text, name: string, schema: Schema, before: readonly Named[]): Html {
  const own = Object.entries(propertiesOf(schema));
  const common = before
    .map(([other, it]) => {
      const theirs = propertiesOf(it);
      return { other, names: own.filter(([field, mine]) => isSame(mine, theirs[field])).map(([field]) => field) };
    })
    .reduce((most, next) => (next.names.length > most.names.length ? next : most), NO_SHARED_FIELDS);
  const said = common.names.length < FEWEST_SHARED ? NO_SHARED_FIELDS : common;
  const rest = { ...schema, properties: Object.fromEntries(own.filter(([field]) => !said.names.includes(field))) };
  return html`<section class="card" id="${objectId(name)}"><header><h2>${name}</h2></header>${fields(text, rest)}${
    said.names.length > 0 &&
    html`<p class="small">${text.asIn} <a href="#${objectId(said.other)}">${said.other}</a>: ${said.names.map((field, index) => html`${index > 0 && ', '}<code>${field}</code>`)}.</p>`
  }</section>`;
}

/** How many fields must be the same before it is said once that they are. */
const FEWEST_SHARED = 5;
const NO_SHARED_FIELDS = { other: '', names: [] as readonly string[] };
const isSame = (one: Schema, other: Schema | undefined): boolean => JSON.stringify(one) === JSON.stringify(other);

function operation(reference: ApiReference, route: DescribedRoute, objects: NamedObjects): Html {
  const { site, document, issuer } = reference;
  const text = site.messages.reference;
  const { schema, method } = route;
  const it = document.paths[pathOf(route, issuer)]?.[method.toLowerCase()];
  if (it === undefined) return html``;
  const part = (title: string, content: HtmlPart) => html`<h3>${title}</h3>${content}`;
  const media = Object.entries(it.requestBody?.content ?? {});
  const body = media[0]?.[1].schema;
  if (body !== undefined) objects.note(body);
  return html`<section class="card operation" id="${schema.operationId}"><header><h2>${it.summary}</h2>${callOf(reference, route)}
${it.description !== undefined && html`<p>${prose(it.description)}</p>`}<p class="muted small">${text.caller[schema.caller]}</p></header>
${it.parameters !== undefined && part(text.parameters, rows(it.parameters.map((parameter) => row(html`<code>${parameter.name}</code>`, [kindOf({ ...parameter.schema, ...(parameter.description !== undefined && { description: '' }) }), parameter.required && `, ${text.required}`], prose(parameter.description ?? '')))))}
${body !== undefined && part(text.body, html`<p class="small">${media.map(([type], index) => html`${index > 0 && ` ${text.or} `}<code>${type}</code>`)}: ${kindOf(body)}</p>${!('$ref' in body) && fields(text, body)}`)}
${part(text.answers, answers(site, it, document, objects))}
${schema.examples.map((example) => shownExample(reference, route, example, objects))}</section>`;
}

/** The responses of an operation. Those that every operation may give are in the overview. */
function answers(site: Site, { responses }: OperationObject, document: OpenApiDocument, objects: NamedObjects): Html {
  const own = Object.entries(responses).filter(([, answer]) => !('$ref' in answer && isCommon(answer)));
  return rows(
    own.map(([status, answer]) => {
      const { description, content = {} } = resolved(answer, document);
      const schema = content['application/json']?.schema;
      if (schema !== undefined && Number(status) < 400) objects.note(schema);
      const isError = Number(status) >= 400;
      if (isError) return row(html`<code>${status}</code>`, undefined, codesOf(site, schema));
      const object = schema !== undefined && kindOf(schema);
      const types = Object.keys(content).filter((type) => type !== 'application/json');
      return row(
        html`<code>${status}</code>`,
        [object, types.map((type) => html` <code>${type}</code>`)],
        [prose(description), schema !== undefined && !('$ref' in schema) && fields(site.messages.reference, schema)],
      );
    }),
  );
}

/** The error codes of a response, linked to the overview. */
function codesOf({ path }: Site, schema: Schema | undefined): Html {
  const { properties } = (schema ?? {}) as { readonly properties?: { readonly error: Schema } };
  const codes = (properties?.error['enum'] ?? []) as readonly string[];
  return html`${codes.map((code, index) => html`${index > 0 && ', '}<a href="${path(REFERENCE_PATH)}#${code}"><code>${code}</code></a>`)}`;
}

function resolved(answer: ResponseObject | Reference, document: OpenApiDocument): ResponseObject {
  if (!('$ref' in answer)) return answer;
  return document.components.responses[nameIn(answer.$ref)] ?? { description: '' };
}

function shownExample(
  { site, issuer }: ApiReference,
  route: DescribedRoute,
  example: OperationExample,
  objects: NamedObjects,
): Html {
  const text = site.messages.reference;
  const answer = objects.newAnswer(route.schema, example);
  return html`<details><summary>${text.example} ${example.summary}</summary><pre><code>${curlOf(issuer, route, example)}</code></pre>${
    answer !== undefined &&
    html`<p class="small">${text.answered} ${example.status}${answer.isPart && ` ${text.withoutRepeated}`}:</p><pre><code>${JSON.stringify(answer.shown, null, 2)}</code></pre>`
  }</details>`;
}

interface ShownAnswer {
  readonly shown: unknown;
  /** Whether it lacks what was shown before. */
  readonly isPart: boolean;
}

/** Collects the named objects of a page, each once. */
class NamedObjects {
  readonly #named = new Map<string, Schema>();
  readonly #schemas = new Set<unknown>();
  readonly #answers: Readonly<Record<string, unknown>>[] = [];
  readonly #document: OpenApiDocument;

  constructor(document: OpenApiDocument) {
    this.#document = document;
  }

  note(schema: unknown): void {
    if (typeof schema !== 'object' || schema === null) return;
    const { $ref } = schema as Schema;
    if (typeof $ref === 'string') {
      const name = nameIn($ref);
      const found = this.#document.components.schemas[name];
      if (found === undefined || this.#named.has(name)) return;
      this.#named.set(name, found);
      this.note(found);
      return;
    }
    for (const part of Object.values(schema)) this.note(part);
  }

  /**
   * The answer of an example, unless one of the same schema was shown before. Fields that have the same value in one that was shown
   * before are left out, so that what differs is seen.
   */
  newAnswer({ response }: DescribedRoute['schema'], { status, answer }: OperationExample): ShownAnswer | undefined {
    if (answer === undefined) return undefined;
    const { content } = (response as Readonly<Record<number, ResponseObject>>)[status] ?? {};
    const schema = content?.['application/json']?.schema ?? answer;
    if (this.#schemas.has(schema)) return undefined;
    this.#schemas.add(schema);
    const fields = Object.entries(answer as Readonly<Record<string, unknown>>);
    const differing = this.#answers
      .map((other) => fields.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(other[name])))
      .reduce((least, next) => (next.length < least.length ? next : least), fields);
    this.#answers.push(answer as Readonly<Record<string, unknown>>);
    const isPart = differing.length > 0 && fields.length - differing.length >= FEWEST_SHARED;
    return { shown: isPart ? Object.fromEntries(differing) : answer, isPart };
  }

  all(): readonly (readonly [name: string, schema: Schema])[] {
    return [...this.#named];
  }
}

/** The fields of an object, including nested ones. */
const fields = (text: Text, schema: Schema): Html => rows(fieldRows(text, schema, ''));

function fieldRows(text: Text, schema: Schema, before: string): readonly Html[] {
  const { properties = {}, required = [] } = schema;
  return Object.entries(properties as Readonly<Record<string, Schema>>).flatMap(([name, property]) => {
    const { description = '' } = property;
    const must = (required as readonly string[]).includes(name);
    const inner = innerOf(property);
    const kind = [kindOf(property), !must && `, ${text.optional}`];
    return [
      row(html`<code>${before}${name}</code>`, kind, prose(String(description))),
      ...(inner === undefined ? [] : fieldRows(text, inner, `${before}${name}.`)),
    ];
  });
}

/** The object schema of a field, which may also allow null or be a list. */
function innerOf(schema: Schema): Schema | undefined {
  if (schema['properties'] !== undefined) return schema;
  const members = (schema['anyOf'] ?? (schema['items'] === undefined ? [] : [schema['items']])) as readonly Schema[];
  return members.find((member) => member['properties'] !== undefined);
}

const rows = (list: readonly Html[]): Html => (list.length === 0 ? html`` : html`<dl class="fields">${list}</dl>`);

const row = (name: Html, kind: HtmlPart, meaning: HtmlPart): Html =>
  html`<div><dt>${name}${kind !== undefined && html` <span class="small">${kind}</span>`}</dt><dd>${meaning}</dd></div>`;
