import type { Client } from '../clients/store.ts';
import { appPicturePath } from '../pictures/rules/address.ts';
import { initials } from '../pictures/rules/initials.ts';
import { type Html, html } from './html.ts';
import type { Site } from './layout.ts';
import type { TileHalf } from './mark.ts';

/** What pages show of an app. */
export type ShownApp = Pick<Client, 'id' | 'name' | 'picture'>;

const addressOf = ({ path }: Site, { id, picture }: ShownApp): string | undefined =>
  picture === null ? undefined : path(appPicturePath({ clientId: id, picture }));

/** The half of the tile that shows an app. */
export const appHalf = (site: Site, app: ShownApp): TileHalf => ({
  letters: initials(app.name),
  picture: addressOf(site, app),
});

/** An app's picture, or its initials. The name is beside it, so it has no alternative text. */
export function appPicture(site: Site, app: ShownApp): Html {
  const address = addressOf(site, app);
  return address === undefined
    ? html`<span class="letters" aria-hidden="true">${initials(app.name)}</span>`
    : html`<img class="picture app-picture" src="${address}" alt="" width="44" height="44">`;
}
