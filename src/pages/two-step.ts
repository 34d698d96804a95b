import { inGroups } from '../authenticators/rules/codes.ts';
import { copyable } from './components.ts';
import { type Html, html } from './html.ts';
import type { Site } from './layout.ts';
import { qrCode } from './qr-code.ts';

/** The seed of an authenticator app, as a picture to scan and as text. */
export async function seedToScan({ messages }: Site, seed: string, uri: string): Promise<Html> {
  const text = messages.twoStep;
  return html`<header><h2>${text.scan}</h2><p class="muted small">${text.scanLead}</p></header>
${await qrCode(uri, text.picture)}
<div><p class="small">${text.byHand}</p><p>${copyable(inGroups(seed, ' '), messages.error, text.copyKey)}</p></div>
<p class="small"><a href="${uri}">${text.sameDevice}</a></p>`;
}
