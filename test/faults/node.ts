// A node whose clock differs from the machine's by TEST_CLOCK_SHIFT milliseconds; in everything else `tessera serve`.

import { start } from '../../src/app.ts';
import { readConfig } from '../../src/config/config.ts';

const shift = Number(process.env['TEST_CLOCK_SHIFT']);
await start(readConfig(process.env), () => Date.now() + shift);
process.stdout.write('{}\n');
