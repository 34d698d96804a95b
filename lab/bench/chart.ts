import type { Result } from './measure.ts';
import type { Recording } from './recording.ts';
import { ranked } from './report.ts';
import { WORK } from './work-names.ts';

/** The works that the chart shows, each on a scale of its own. */
const PANELS = [WORK.userInfo, WORK.refresh, WORK.authorize, WORK.code] as const;
const CONNECTIONS = 32;

const WIDTH = 880;
const PANEL = { width: 412, gap: 24, title: 30, row: 40, bar: 14, most: 250 };
const MARGIN = 20;

/** Readable in the light and in the dark, on a ground of its own: an image does not know the page around it. */
const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #2b2733 }
  .work { font-weight: 600; font-size: 15px }
  .soft { fill: #635d6c }
  .ground { fill: #fbfaf8 }
  .own { fill: #7b2a6b }
  .peer { fill: #8b8694 }
  .range { stroke: #2b2733; stroke-width: 1.5 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ece9f0 }
    .soft { fill: #b4aebd }
    .ground { fill: #1c1a22 }
    .own { fill: #d493c4 }
    .peer { fill: #8f8a99 }
    .range { stroke: #ece9f0 }
  }
`;

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const count = (value: number): string => Math.round(value).toLocaleString('en-GB');

/** A bar chart of requests per second with the lowest and highest round; the title and description repeat it as text. */
export function chart({ results, people, machine, recordedOn }: Recording): string {
  const panels = PANELS.map((work) => ({ work, rows: ranked(results, work, CONNECTIONS) })).filter(
    ({ rows }) => rows.length > 0,
  );
  const tallest = Math.max(0, ...panels.map(({ rows }) => rows.length));
  const height = PANEL.title + tallest * PANEL.row + PANEL.gap;
  const total = MARGIN + 24 + Math.ceil(panels.length / 2) * height + 24;
  const said = panels.map(
    ({ work, rows }) =>
      `${work}: ${rows.map(({ target, summary }) => `${target} ${count(summary.perSecond.median)}`).join('; ')}.`,
  );
  const drawn = panels.map(({ work, rows }, index) => {
    const x = MARGIN + (index % 2) * (PANEL.width + PANEL.gap / 2);
    const y = MARGIN + 24 + Math.floor(index / 2) * height;
    return panel(work, rows, x, y);
  });
  const note = `${count(people)} users, ${CONNECTIONS} connections, ${machine.processors} processors, Node ${machine.node.slice(1)}, ${recordedOn}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${total}" role="img" aria-labelledby="title description">
<title id="title">Requests per second of each server</title>
<desc id="description">${escaped(said.join(' '))}</desc>
<style>${STYLE}</style>
<rect class="ground" width="${WIDTH}" height="${total}" rx="10"/>
<text class="soft" x="${MARGIN}" y="${MARGIN + 10}">Requests per second; the line shows the slowest and the fastest round</text>
${drawn.join('\n')}
<text class="soft" x="${MARGIN}" y="${total - 14}">${escaped(note)}</text>
</svg>
`;
}

function panel(work: string, rows: readonly Result[], x: number, y: number): string {
  const most = Math.max(...rows.map(({ summary }) => summary.perSecond.highest));
  const scaled = (value: number): number => Math.round((value / most) * PANEL.most);
  const bars = rows.map(({ target, summary }, index) => {
    const top = y + PANEL.title + index * PANEL.row;
    const { median, lowest, highest } = summary.perSecond;
    const middle = top + 6 + PANEL.bar / 2 + 10;
    return `<text class="soft" x="${x}" y="${top + 10}">${escaped(target)}</text>
<rect class="${target.startsWith('Tessera') ? 'own' : 'peer'}" x="${x}" y="${middle - PANEL.bar / 2}" width="${scaled(median)}" height="${PANEL.bar}" rx="2"/>
<line class="range" x1="${x + scaled(lowest)}" y1="${middle}" x2="${x + scaled(highest)}" y2="${middle}"/>
<text x="${x + PANEL.most + 10}" y="${middle + 5}">${count(median)} <tspan class="soft" dx="4">p99 ${summary.p99.median.toFixed(1)} ms</tspan></text>`;
  });
  return `<text class="work" x="${x}" y="${y + 12}">${escaped(work)}</text>\n${bars.join('\n')}`;
}
