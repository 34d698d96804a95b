// As much of curl as the documentation uses, for machines that have none: -s, -H, -d and an address.
const headers = new Headers();
let body: string | undefined;
let address = '';
const words = process.argv.slice(2);
for (let index = 0; index < words.length; index++) {
  const word = words[index];
  if (word === '-s') continue;
  if (word === '-H') {
    const line = words[++index] ?? '';
    headers.set(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim());
  } else if (word === '-d') {
    body = words[++index];
  } else if (word?.startsWith('-')) {
    throw new Error(`this stand-in for curl does not know ${word}`);
  } else {
    address = word ?? '';
  }
}
const response = await fetch(address, { headers, ...(body !== undefined && { method: 'POST', body }) });
process.stdout.write(await response.text());
