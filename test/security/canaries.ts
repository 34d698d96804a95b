/** Every spelling in which a text could have got into a log. */
function spellings(text: string): string[] {
  const bytes = Buffer.from(text);
  return [
    text,
    encodeURIComponent(text),
    new URLSearchParams({ x: text }).toString().slice(2),
    JSON.stringify(text).slice(1, -1),
    bytes.toString('base64').replaceAll('=', ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
    [...bytes].join(','),
  ];
}

/** What must never be seen outside, by its name. */
export class Canaries {
  readonly #texts = new Map<string, string>();

  /** Notes a secret, and gives it back. */
  add(name: string, text: string | undefined): string {
    if (text === undefined || text.length < 12) throw new Error(`no ${name} to look for: ${text}`);
    // A token may be cut in the middle: each part counts.
    const parts = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/.test(text) ? text.split('.').slice(1) : [text];
    for (const [n, part] of parts.entries()) this.#texts.set(`${name} ${n} #${this.#texts.size}`, part);
    return text;
  }

  get size(): number {
    return this.#texts.size;
  }

  /** The names of those that an output holds, in whatever spelling. */
  foundIn(output: string): string[] {
    return [...this.#texts]
      .filter(([, text]) => spellings(text).some((one) => output.includes(one)))
      .map(([name]) => name);
  }
}
