import { read } from '../../docs/site/markdown.ts';

/** A fenced block of a page. */
export interface Block {
  /** The page and the line, for the error message. */
  readonly place: string;
  readonly language: string;
  readonly text: string;
  /** Why it is not run: what the comment `<!-- not run: … -->` above it says. */
  readonly notRun: string | undefined;
  /** What runs it besides the tests of this folder: the comment `<!-- run: … -->` above it. */
  readonly runBy: string | undefined;
  /** What the reader does to the server first: the comment `<!-- server: stop -->`, or `start`, above it. */
  readonly server: string | undefined;
}

const FENCE =
  /^(?:[ \t]*<!-- (?:not run:(?<notRun>[^>]*)|run:(?<runBy>[^>]*))-->\n)?(?:[ \t]*<!-- server: (?<server>stop|start) -->\n)?(?<indent>[ \t]*)```(?<language>\S*)\n(?<text>.*?)^[ \t]*```$/gms;

/** The fenced blocks of a page, in order. */
export function blocksOf(page: string): readonly Block[] {
  const markdown = read(page);
  return [...markdown.matchAll(FENCE)].map(({ groups = {}, index }) => ({
    place: `${page}:${markdown.slice(0, index).split('\n').length}`,
    language: groups['language'] ?? '',
    text: (groups['text'] ?? '').replaceAll(new RegExp(`^${groups['indent'] ?? ''}`, 'gm'), ''),
    notRun: groups['notRun']?.trim(),
    runBy: groups['runBy']?.trim(),
    server: groups['server'],
  }));
}
