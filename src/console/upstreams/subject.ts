import { isolate } from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import type { Upstream } from '../../upstreams/store.ts';
import type { ConsoleVisit } from '../visit.ts';
import { upstreamAddress } from './addresses.ts';
import { foundUpstream } from './page.ts';

/** The provider that an act names. @throws {Failure} `not found` */
export const namedUpstream = ({ services, named }: ConsoleVisit): Promise<Upstream> =>
  services.database.read(() => foundUpstream(named.id ?? ''));

/** What every page of an act on a provider says of it. */
export const aboutUpstream = ({ id, name }: Upstream) => ({
  object: html`${isolate(name)} · <span class="figures">${id}</span>`,
  about: { id },
  back: upstreamAddress(id),
});

/** Where an act on a provider leads back to. */
export const backToUpstream = ({ services: { site } }: ConsoleVisit, { id, displayName }: Upstream) => ({
  back: upstreamAddress(id),
  backTo: site.messages.operators.back(isolate(displayName)),
});
