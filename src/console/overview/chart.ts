import type { CountInSpan } from '../../audit/count-store.ts';
import { holdsSomewhere } from '../../operators/rights.ts';
import { type Html, html } from '../../pages/html.ts';
import type { Site } from '../../pages/layout.ts';
import { HOUR, iso } from '../../platform/clock.ts';
import type { ConsoleVisit } from '../visit.ts';
import { COUNTED, type Counted, firstHour, PERIODS, type Period, seriesOf } from './rules.ts';

interface Chart {
  readonly counted: Counted;
  readonly period: Period;
  /** The present hour, counted from the Unix epoch. */
  readonly hour: number;
  readonly counts: readonly CountInSpan[];
}

const HEIGHT = 40;
const STEP = 10;

/** A number with its course through the period: bars for the eye, and the same as a table. */
export function chart(site: Site, { operator }: ConsoleVisit, { counted, period, hour, counts }: Chart): Html {
  const { path, messages } = site;
  const { overview: text } = messages.operators;
  const series = seriesOf(counts, counted, period, hour);
  const total = series.reduce((sum, count) => sum + count, 0);
  const { width } = PERIODS[period];
  const first = firstHour(period, hour);
  const startOf = (index: number): string => iso((first + index * width) * HOUR);
  const shown = total.toLocaleString('en');
  const query = new URLSearchParams({ ...COUNTED[counted].filter, since: startOf(0) });
  const number = holdsSomewhere(operator, 'events.read')
    ? html`<a class="total figures" href="${path(`/console/events?${query}`)}">${shown}</a>`
    : html`<span class="total figures">${shown}</span>`;
  const name = text.counts[counted];
  const rows = series.map((count, index) => {
    const start = startOf(index);
    const label = width === 1 ? `${start.slice(5, 10)} ${start.slice(11, 16)}` : start.slice(0, 10);
    return html`<tr><th scope="row"><time datetime="${start}">${label}</time></th><td class="figures">${count.toLocaleString('en')}</td></tr>`;
  });
  return html`<section class="card count"><h2 class="small">${name}</h2>${number}${bars(series, text.chart(name, shown))}<details><summary>${text.table}</summary><div class="scrolls" tabindex="0" role="region" aria-label="${name}"><table class="numbers"><thead><tr><th scope="col">${width === 1 ? text.inHour : text.inDay}</th><th scope="col">${text.count}</th></tr></thead><tbody>${rows}</tbody></table></div></details></section>`;
}

function bars(series: readonly number[], label: string): Html {
  const most = Math.max(1, ...series);
  const drawn = series.map((count, index) => {
    const height = count === 0 ? 1 : Math.max(2, Math.round((count / most) * HEIGHT));
    return html`<rect x="${index * STEP}" y="${HEIGHT - height}" width="${STEP - 3}" height="${height}"${count === 0 && html` class="none"`}/>`;
  });
  return html`<svg class="bars" viewBox="0 0 ${series.length * STEP - 3} ${HEIGHT}" role="img" aria-label="${label}" preserveAspectRatio="none">${drawn}</svg>`;
}
