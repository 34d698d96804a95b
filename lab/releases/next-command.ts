// The command `tessera` of the version with `NEXT`: see README.md.
import { timeline } from '../../src/migrations/timeline.ts';
import { NEXT } from './next.ts';

Object.assign(timeline, NEXT);
await import('../../src/cli/main.ts');
