// Started by guard.ts: once standard input closes, kills the process groups that are still watched and removes the folders.
import { rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { killGroup } from './group.ts';

const watched = new Set<number>();
const folders: string[] = [];
for await (const line of createInterface({ input: process.stdin })) {
  const [order, value = ''] = line.split(' ');
  if (order === 'watch') watched.add(Number(value));
  else if (order === 'release') watched.delete(Number(value));
  else if (order === 'remove') folders.push(value);
}
for (const group of watched) killGroup(group);
for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
