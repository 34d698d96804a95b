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

/** A person's picture fills the half; an app's picture is shown whole. */
const filling = (address: string): Html =>
  html`<clipPath id="person-half"><path d="${PERSON_HALF}"/></clipPath><image href="${address}" x="20" y="0" width="96" height="96" clip-path="url(#person-half)"/>`;
const badge = (address: string): Html =>
  html`<clipPath id="app-badge"><rect x="3" y="29" width="38" height="38" rx="7"/></clipPath><g clip-path="url(#app-badge)"><rect x="3" y="29" width="38" height="38" fill="#fff"/><image href="${address}" x="3" y="29" width="38" height="38"/></g>`;

interface Tile {
  readonly app?: TileHalf;
  /** An outline while the person is unknown. */
  readonly person?: TileHalf;
  readonly kind: 'mark' | 'large';
}

/** The mark. It is decoration, and so hidden from assistive technology. */
export function tile({ app, person, kind }: Tile): Html {
  const unknown = kind === 'large' && person === undefined;
  return html`<svg class="tile ${kind}" viewBox="-5 -2 106 100" aria-hidden="true" focusable="false"><g class="half app"><path d="${APP_HALF}"/>${app !== undefined && (app.picture === undefined ? letters(25, app.letters) : badge(app.picture))}</g><g class="half ${unknown ? 'unknown' : 'person'}"><path d="${PERSON_HALF}"/>${person !== undefined && (person.picture === undefined ? letters(75, person.letters) : filling(person.picture))}</g></svg>`;
}
