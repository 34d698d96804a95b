/** `npm run shape`: prints the figures of the house; with `--places`, also where to look. */
import { figures } from './figures.ts';

const withPlaces = process.argv.includes('--places');
for (const { name, value, bound, places } of figures()) {
  const held = bound === undefined ? '' : `  at most ${bound}`;
  process.stdout.write(`${String(value).padStart(7)}  ${name}${held}\n`);
  if (withPlaces) for (const place of places) process.stdout.write(`         ${place}\n`);
}
