import { readFileSync } from 'node:fs';

/** What the shell was told to run. */
export interface Order {
  readonly program: 'tessera' | 'curl';
  readonly args: readonly string[];
  readonly input: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface Outcome {
  readonly out: string;
  readonly errors: string;
  readonly code: number;
}

/** As much of curl as the documentation uses: -s, -u, -H, -d, --data-binary of a file, -X and an address. */
export async function curl({ args }: Order): Promise<Outcome> {
  const headers = new Headers();
  const data: string[] = [];
  let file: Buffer<ArrayBuffer> | undefined;
  let method: string | undefined;
  let address = '';
  const words = args[Symbol.iterator]();
  const value = (): string => words.next().value ?? '';
  for (const word of words) {
    if (word === '-s') continue;
    if (word === '-X') method = value();
    else if (word === '-d') data.push(value());
    else if (word === '--data-binary') file = readFileSync(value().slice(1));
    else if (word === '-u') headers.set('authorization', `Basic ${Buffer.from(value()).toString('base64')}`);
    else if (word === '-H') {
      const line = value();
      headers.set(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim());
    } else if (word.startsWith('-'))
      return { out: '', errors: `this stand-in for curl does not know ${word}\n`, code: 2 };
    else address = word;
  }
  if (data.length > 0 && !headers.has('content-type')) headers.set('content-type', 'application/x-www-form-urlencoded');
  const body = data.length > 0 ? data.join('&') : file;
  const response = await fetch(address, {
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers,
    ...(body !== undefined && { body }),
  });
  return { out: await response.text(), errors: '', code: 0 };
}
