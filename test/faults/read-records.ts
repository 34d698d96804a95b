// Prints what a database holds, for whoever cannot reach it by its own path.

import { readRecords } from './records.ts';

process.stdout.write(JSON.stringify(await readRecords(process.argv[2] ?? '')));
