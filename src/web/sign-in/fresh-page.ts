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
  '/account/deletion': '/account/data',
};
const BEGINNINGS = [
  '/account/organization',
  '/account/email',
  '/account/security',
  '/account/sessions',
  '/account/connections',
  '/account/data/export',
  '/account/data',
  '/playground',
];

const CONNECT = '/account/security/connect';

/** Whether an address is one at which a provider is connected. */
export const isConnectPage = (page: string): boolean => page.startsWith(`${CONNECT}/`);

/** What a form of the console says of its object, as the address of its page does. */
const OBJECT_FIELDS = [
  ...['id', 'factor', 'session', 'app', 'secret', 'user', 'organization', 'held', 'act', 'identity', 'provider'],
] as const;

/** Handles have 43 characters: a longer one was made up. */
const LONGEST_HANDLE = 64;

/** The longest address that comes back after a sign-in, in characters. */
const LONGEST_PAGE = 1000;

/** The address of a page of the console: its forms are at the address of the page that shows them. */
function consolePage(request: FastifyRequest, { path }: Pick<Site, 'path'>): string {
  const opened = request.url.slice(path('').length);
  const [page = ''] = opened.split('?', 1);
  // The browser keeps it in a cookie.
  if (page.length > LONGEST_PAGE) return '/console';
  if (request.method !== 'POST') return opened.length > LONGEST_PAGE ? page : opened;
  const form = request.body === undefined ? undefined : formOf(request);
  const query = new URLSearchParams();
  for (const name of OBJECT_FIELDS) {
    const value = form?.get(name);
    if (value !== undefined) query.set(name, value);
  }
  return query.size === 0 || query.toString().length > LONGEST_PAGE ? page : `${page}?${query}`;
}

/** Where the person who is signed in now finds the page of a form, or of what leads to it. */
export function freshPage(request: FastifyRequest, { path }: Pick<Site, 'path'>): string {
  // A pending request belongs to the browser, and goes on with whom is signed in.
  const handle = request.body === undefined ? undefined : formOf(request).get(HANDLE);
  if (handle !== undefined && handle.length <= LONGEST_HANDLE)
    return `/continue?${HANDLE}=${encodeURIComponent(handle)}`;
  const address = (request.routeOptions.url ?? '').slice(path('').length);
  if (/^\/console(\/|$)/.test(address)) return consolePage(request, { path });
  const { name } = request.params as { readonly name?: string };
  if (address.startsWith(`${CONNECT}/:name`) && /^[a-z0-9-]{2,32}$/.test(name ?? '')) {
    return address.replace(':name', name ?? '');
  }
  return PAGES[address] ?? BEGINNINGS.find((beginning) => address.startsWith(beginning)) ?? '/account';
}
