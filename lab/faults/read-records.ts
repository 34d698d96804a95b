// Prints the records of a database, for a process that cannot open its path.

import { readRecords } from './records.ts';

process.stdout.write(JSON.stringify(await readRecords(process.argv[2] ?? '')));
