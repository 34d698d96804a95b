/** Shows progress on the standard error; the results are on the standard output. */
export const say = (text: string): void => void process.stderr.write(`${text}\n`);
