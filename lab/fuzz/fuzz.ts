import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digest } from '../../src/platform/crypto/secrets.ts';
import { Random } from '../../test/support/random.ts';
import type { Target } from './target.ts';

const CORPUS = join(import.meta.dirname, 'corpus');
/** Longer inputs are refused before they reach a parser. */
const LONGEST = 4096;
/** Characters that parsers of text get wrong. */
const ODD = ['\u0000', '\r\n', '\u202e', '\ud800', '\u{1f600}', 'é', '"', "'", '\\', '%', '<', '\u007f', 'İ'];

const folderOf = (name: string): string => join(CORPUS, name.replaceAll(/[^a-z]+/gi, '-').toLowerCase());

/** What was found before for a target: inputs that failed once, or that reached something new. */
export function corpusOf(name: string): readonly string[] {
  const folder = folderOf(name);
  return existsSync(folder)
    ? readdirSync(folder)
        .sort()
        .map((file) => readFileSync(join(folder, file), 'utf8'))
    : [];
}

/** Keeps an input, by its digest. */
export function keep(name: string, input: string): string {
  const folder = folderOf(name);
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${digest(input).slice(0, 12)}.txt`);
  writeFileSync(file, input);
  return file;
}

/** One to six changes of an input: parts taken out, doubled, moved, replaced by words of the format or odd characters, or spliced. */
export function mutate(
  random: Random,
  input: string,
  { words }: Pick<Target, 'words'>,
  others: readonly string[],
): string {
  let text = input;
  for (let change = random.below(6) + 1; change > 0; change--) {
    const at = random.below(text.length + 1);
    const to = Math.min(text.length, at + random.below(12));
    const part = text.slice(at, to);
    const [before, after] = [text.slice(0, at), text.slice(to)];
    switch (random.below(7)) {
      case 0:
        text = before + after;
        break;
      case 1:
        text = before + part.repeat(random.below(4) + 1) + after;
        break;
      case 2:
        text = before + (random.pick(words) ?? '') + after;
        break;
      case 3:
        text = before + (random.pick(ODD) ?? '') + part + after;
        break;
      case 4:
        text = before + String.fromCharCode(random.below(0x250)) + after;
        break;
      case 5: {
        const other = random.pick(others) ?? '';
        text = before + other.slice(random.below(other.length + 1));
        break;
      }
      default:
        text = after + before;
    }
  }
  return text.slice(0, LONGEST);
}

/** An input for which a parser failed. */
export class Found extends Error {
  readonly input: string;
  constructor(name: string, input: string, cause: unknown) {
    super(`${name} failed for ${JSON.stringify(input)}`, { cause });
    this.input = input;
  }
}

/** Runs a target on one input. @throws {Found} */
export async function attempt(name: string, target: Target, input: string): Promise<void> {
  try {
    // Most parsers do not wait for anything, and millions of inputs would.
    const running = target.run(input);
    if (running !== undefined) await running;
  } catch (error) {
    throw new Found(name, input, error);
  }
}

/** Inputs of a target, without an end, that follow from a seed: what is known first, then changes of it. */
export function* inputsOf(name: string, target: Target, seed: number): Generator<string> {
  const known = [...target.seeds, ...corpusOf(name)];
  yield* known;
  const random = new Random(seed);
  const changed: string[] = [];
  for (;;) {
    // Half of them begin with an input that is known, most parts of which a parser understands.
    const begun = changed.length > 0 && random.chance(0.5) ? random.pick(changed) : random.pick(known);
    const next = mutate(random, begun ?? '', target, known);
    yield next;
    // Some changes go on, so that inputs get away from what they began with.
    if (random.chance(0.02)) changed[changed.length < 500 ? changed.length : random.below(changed.length)] = next;
  }
}
