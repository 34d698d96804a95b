import { type Html, html } from './html.ts';

/*
 * A square tile of 96 units, broken in two. Both halves run along the same line, so that they fit; the style sheet moves
 * them apart and together. `assets/icon.svg` repeats the two shapes.
 */
const APP_HALF = 'M8 0H52L43 23L57 46L40 70L49 96H8a8 8 0 0 1-8-8V8a8 8 0 0 1 8-8z';
const PERSON_HALF = 'M52 0H88a8 8 0 0 1 8 8V88a8 8 0 0 1-8 8H49L40 70L57 46L43 23z';

const letters = (x: number, text: string): Html => html`<text x="${x}" y="50" dy="0.36em">${text}</text>`;

interface Tile {
  /** The letters on the app's half. */
  readonly app?: string;
  /** The letters on the person's half; where nobody is known yet, it is an outline. */
  readonly person?: string | undefined;
  readonly kind: 'mark' | 'large';
}

/** The mark: decoration, so hidden from assistive technology. */
export function tile({ app, person, kind }: Tile): Html {
  const unknown = kind === 'large' && person === undefined;
  return html`<svg class="tile ${kind}" viewBox="-5 -2 106 100" aria-hidden="true" focusable="false"><g class="half app"><path d="${APP_HALF}"/>${app !== undefined && letters(25, app)}</g><g class="half ${unknown ? 'unknown' : 'person'}"><path d="${PERSON_HALF}"/>${person !== undefined && letters(75, person)}</g></svg>`;
}
