// Started by guard.ts: kills what is still watched once standard input closes.
import { createInterface } from 'node:readline';
import { killGroup } from './group.ts';

const watched = new Set<number>();
for await (const line of createInterface({ input: process.stdin })) {
  const [order, group] = line.split(' ');
  if (order === 'watch') watched.add(Number(group));
  else watched.delete(Number(group));
}
for (const group of watched) killGroup(group);
