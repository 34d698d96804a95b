import type { FastifyRequest } from 'fastify';
import type { Site } from '../../pages/layout.ts';
import { formOf } from '../../platform/http/bodies.ts';
import { HANDLE } from '../authorize/request-fields.ts';

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

/** Where the person who is signed in now finds the page of a form, or of what leads to it. */
export function freshPage(request: FastifyRequest, { path }: Site): string {
  // A pending request belongs to the browser, and goes on with whom is signed in.
  const handle = request.body === undefined ? undefined : formOf(request).get(HANDLE);
  if (handle !== undefined) return `/continue?${HANDLE}=${encodeURIComponent(handle)}`;
  const address = (request.routeOptions.url ?? '').slice(path('').length);
  return PAGES[address] ?? BEGINNINGS.find((beginning) => address.startsWith(beginning)) ?? '/account';
}
