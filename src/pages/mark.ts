import { type Html, html } from './html.ts';

/** The mark: a tile with a broken edge whose other half fits. Decoration, so hidden from assistive technology. */
export const mark = (): Html =>
  html`<svg class="mark" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" focusable="false"><path d="M5 4h10.2l-2 5 3.6 4.500-3.400 5 2.800 4.500-1.800 5H5a1 1 0 0 1-1-1V5a1 1 0 0 1 1-1z" fill="currentColor"/><path d="M18.200 4H27a1 1 0 0 1 1 1v22a1 1 0 0 1-1 1h-9.600l1.800-5-2.800-4.500 3.400-5-3.600-4.500z" fill="none" stroke="currentColor" stroke-width="1.500" stroke-linejoin="round"/></svg>`;
