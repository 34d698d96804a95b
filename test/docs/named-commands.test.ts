// store: none
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Command } from 'commander';
import { pages, read } from '../../docs/site/markdown.ts';
import { program } from '../../src/cli/program.ts';

/*
 * Every command that a text of the service or a page of the documentation names: its words are those of a command, and its options are
 * options of it.
 */

const ROOT = new URL('../../', import.meta.url);

/** What stands where a text has a value. */
const VALUE = 'VALUE';

/** A source with a value for each expression of a template. What is joined by `+` is one text. */
function textsOf(source: string): string {
  const joined = source.replaceAll(/['`]\s*\+\s*['`]/g, '');
  const INNERMOST = /\$\{[^{}$`]*(?:`[^`$]*`[^{}$`]*)*\}/g;
  let text = joined;
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replaceAll(INNERMOST, VALUE);
  }
  return text;
}

interface NamedCommand {
  readonly place: string;
  /** The words after the name of the program, until the text goes on. */
  readonly words: readonly string[];
}

const ROOT_COMMAND = program();
const NAMES = new Set(ROOT_COMMAND.commands.map((command) => command.name()));

/** The commands that a text names. */
function commandsIn(place: string, text: string): readonly NamedCommand[] {
  return [...text.replaceAll(/\\\n\s*/g, ' ').matchAll(/(?:^|[^\w.@/-])tessera (?:-- )?([^\n`”;|']*)/g)].flatMap(
    ([, rest = '']) => {
      const words = rest
        .replace(/ [<>] .*/, '')
        .split(/ +/)
        .filter((word) => word !== '');
      const end = words.findIndex((word) => /[.,:)]$/.test(word));
      const whole = end === -1 ? words : words.slice(0, end + 1);
      const plain = whole.map((word) => word.replace(/[.,:)]+$/, ''));
      return NAMES.has(plain[0] ?? '') ? [{ place, words: plain }] : [];
    },
  );
}

const named: readonly NamedCommand[] = [
  ...globSync('{src,bin}/**/*.{ts,js}', { cwd: ROOT.pathname, exclude: ['**/*.test.ts'] }).flatMap((path) =>
    commandsIn(path, textsOf(readFileSync(new URL(path, ROOT), 'utf8'))),
  ),
  // The reference prints the help of each command itself.
  ...['README.md', ...pages()]
    .filter((path) => !path.endsWith('/command-line.md'))
    .flatMap((path) => commandsIn(path, read(path))),
];

/** What is wrong with a command; undefined where it parses. */
function problemOf({ words }: NamedCommand): string | undefined {
  let command: Command = ROOT_COMMAND;
  let rest = words;
  for (let next = childOf(command, rest[0]); next !== undefined; next = childOf(command, rest[0])) {
    command = next;
    rest = rest.slice(1);
  }
  const name = command.name();
  if (command.commands.length > 0 && rest.length > 0 && rest[0] !== VALUE) return `${rest[0]} is no command of ${name}`;
  let given = 0;
  for (let index = 0; index < rest.length; index++) {
    const word = rest[index] ?? '';
    if (!/^-/.test(word)) {
      given++;
      continue;
    }
    const flag = word.replace(/=.*/, '');
    const option = [...ROOT_COMMAND.options, ...command.options].find(
      ({ long, short }) => flag === long || flag === short,
    );
    if (option === undefined && !['--help', '-h'].includes(word)) return `${word} is no option of ${name}`;
    if (option?.required && !word.includes('=')) index++;
  }
  const needed = command.registeredArguments.filter(({ required }) => required).length;
  // A command that is only mentioned has nothing after its name.
  return rest.length > 0 && !rest.includes('--help') && given < needed
    ? `${name} needs ${needed} arguments`
    : undefined;
}

const childOf = (command: Command, word: string | undefined): Command | undefined =>
  command.commands.find((child) => child.name() === word);

test('every command that a text names exists, with its options', () => {
  assert.ok(named.length > 300, `${named.length} commands`);
  const problems = named.flatMap((command) => {
    const problem = problemOf(command);
    return problem === undefined ? [] : [`${command.place}: tessera ${command.words.join(' ')}: ${problem}`];
  });
  assert.deepEqual(problems, []);
});
