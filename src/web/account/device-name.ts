import { type Html, html } from '../../pages/html.ts';
import type { Messages } from '../../pages/messages.ts';
import type { Device } from '../../platform/validation/origin.ts';

type Named = Omit<Device, 'network'>;

/** What a person recognizes a browser by. */
export const deviceName = ({ browser, system }: Named, { sessions: text }: Messages): string =>
  browser !== null && system !== null ? text.device(browser, system) : (browser ?? system ?? text.unknownDevice);

/** The systems of what is held in a hand. */
const HANDHELD = new Set(['iOS', 'Android', 'HarmonyOS', 'KaiOS']);

/** A phone or a computer. What it is stands beside it in words. */
export const deviceIcon = ({ system }: Named): Html =>
  html`<svg class="device" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">${system !== null && HANDHELD.has(system) ? html`<rect x="7" y="3" width="10" height="18" rx="2"/><path d="M11 18h2"/>` : html`<rect x="4" y="5" width="16" height="11" rx="1.5"/><path d="M2 19h20"/>`}</svg>`;
