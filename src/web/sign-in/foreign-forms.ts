import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type Site, sendPage } from '../../pages/layout.ts';
import { unusedFormPage } from '../../pages/unused-form.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { watchForms } from '../../platform/http/browser.ts';
import { keepOpener } from '../../platform/http/server.ts';
import { findVisitor } from '../../sessions/sessions.ts';
import type { AuthorizationPageServices } from '../authorize/pending-request.ts';
import { HANDLE } from '../authorize/request-fields.ts';

/**
 * Answers each form that was shown to another person than the one who is signed in now, as where somebody else signed in in another
 * tab. Nothing of it is stored or shown, for the page would be that of the wrong person.
 */
export function refuseForeignForms(app: FastifyInstance, services: AuthorizationPageServices): void {
  const { site, browsers } = services;
  watchForms(app, browsers, async (request, reply, accountId) => {
    const visitor = await findVisitor(services, browsers.of(request, reply).sessionSecret);
    // Where nobody is signed in, the route itself knows what to do.
    if (visitor.kind !== 'signed in' || visitor.account.id === accountId) return undefined;
    if (formOf(request).has(HANDLE)) keepOpener(reply);
    return sendPage(reply, 400, site, unusedFormPage(site, visitor.account, 'other account', freshPage(request, site)));
  });
}

/** The pages with forms whose addresses do not begin like theirs. */
const PAGES: Readonly<Record<string, string>> = {
  '/account/password': '/account/security',
  '/account/sign-out-everywhere': '/account/security',
  '/account/confirm': '/account/security',
  '/account/trusted-browsers': '/account/sessions',
  '/account/username': '/account/data',
  '/account/deletion': '/account/data',
};
const BEGINNINGS = [
  '/account/profile',
  '/account/email',
  '/account/security',
  '/account/sessions',
  '/account/connections',
  '/account/data/export',
  '/playground',
];

/** Where the person who is signed in now finds the page of a form. */
export function freshPage(request: FastifyRequest, { path }: Site): string {
  // A pending request belongs to the browser, and goes on with whom is signed in.
  const handle = formOf(request).get(HANDLE);
  if (handle !== undefined) return `/continue?${HANDLE}=${encodeURIComponent(handle)}`;
  const address = (request.routeOptions.url ?? '').slice(path('').length);
  return PAGES[address] ?? BEGINNINGS.find((beginning) => address.startsWith(beginning)) ?? '/account';
}
