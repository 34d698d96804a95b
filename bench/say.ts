/** Tells whoever waits what goes on; the results are on the standard output. */
export const say = (text: string): void => void process.stderr.write(`${text}\n`);
