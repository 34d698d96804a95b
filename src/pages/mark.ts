import { type Html, html } from './html.ts';

/*
 * A square tile of 96 units, broken in two along one line. The style sheet moves the halves apart and together.
 * `assets/icon.svg` repeats the two shapes.
 */
const APP_HALF = 'M8 0H52L43 23L57 46L40 70L49 96H8a8 8 0 0 1-8-8V8a8 8 0 0 1 8-8z';
const PERSON_HALF = 'M52 0H88a8 8 0 0 1 8 8V88a8 8 0 0 1-8 8H49L40 70L57 46L43 23z';

const letters = (x: number, text: string): Html => html`<text x="${x}" y="50" dy="0.36em">${text}</text>`;

/** What a half shows: a picture served by us if there is one, letters otherwise. */
export interface TileHalf {
  readonly letters: string;
  readonly picture: string | undefined;
}

/** A picture fills its half to the broken edge. */
const filling = (id: string, half: string, address: string, x: number): Html =>
  html`<clipPath id="${id}"><path d="${half}"/></clipPath><image href="${address}" x="${x}" y="0" width="96" height="96" clip-path="url(#${id})"/>`;
const personPicture = (address: string): Html => filling('person-half', PERSON_HALF, address, 20);
/** Transparent pictures of apps are drawn for a white background. */
const appPicture = (address: string): Html =>
  html`<path class="ground" d="${APP_HALF}"/>${filling('app-half', APP_HALF, address, -20)}`;

interface Tile {
  readonly app?: TileHalf;
  /** An outline while the person is unknown. */
  readonly person?: TileHalf;
  readonly kind: 'mark' | 'large';
}

/** The mark. It is decoration, and so hidden from assistive technology. */
export function tile({ app, person, kind }: Tile): Html {
  const unknown = kind === 'large' && person === undefined;
  return html`<svg class="tile ${kind}" viewBox="-5 -2 106 100" aria-hidden="true" focusable="false"><g class="half app"><path d="${APP_HALF}"/>${app !== undefined && (app.picture === undefined ? letters(25, app.letters) : appPicture(app.picture))}</g><g class="half ${unknown ? 'unknown' : 'person'}"><path d="${PERSON_HALF}"/>${person !== undefined && (person.picture === undefined ? letters(75, person.letters) : personPicture(person.picture))}</g></svg>`;
}
