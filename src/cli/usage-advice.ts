import type { Command, CommanderError, Option } from 'commander';
import { nearestText } from '../platform/nearest-text.ts';

const HELP = 'Run the command with --help to see its options.';

/** What the parser does not see of wrong usage; undefined where its own message says all. */
export function usageAdvice(error: CommanderError, program: Command, args: readonly string[]): string | undefined {
  let called = program;
  for (const word of args) called = called.commands.find((child) => child.name() === word) ?? called;
  const isOfType = args.some((word) => /^--type(=|$)/.test(word));
  if (error.code === 'commander.unknownOption' && isOfType && called.parent?.name() === 'client')
    return 'error: The type of an app cannot be changed. Register another app: tessera client create --help';
  if (error.code === 'commander.unknownOption') return valueWithDash(error, called, args);
  if (error.code === 'commander.missingMandatoryOptionValue') return misspeltOption(called, program, args);
  return error.code === 'commander.excessArguments'
    ? switchWithValue([...called.options, ...program.options], args)
    : undefined;
}

/** The parser takes a value that begins with a dash for an option. */
function valueWithDash({ message }: CommanderError, called: Command, args: readonly string[]): string | undefined {
  const word = args.find((one) => /^-[^-]{2}/.test(one) && message.includes(`'${one}'`));
  if (word === undefined) return undefined;
  const advice = called.options.some(({ long }) => long === `-${word}`)
    ? `(Did you mean -${word}?)`
    : `A value that begins with a dash goes to the end, after two dashes: -- ${word}`;
  return `error: unknown option '${word}'\n${advice}\n${HELP}`;
}

/** The parser misses a required option before it looks at the ones that it does not know, of which one may be that option misspelt. */
function misspeltOption(called: Command, program: Command, args: readonly string[]): string | undefined {
  const isGlobal = (word: string): boolean => program.options.some(({ long }) => long === word.split('=', 1)[0]);
  const { unknown } = called.parseOptions([...args]);
  const [first] = unknown.filter((word) => word.startsWith('--') && !isGlobal(word));
  if (first === undefined) return undefined;
  const nearest = nearestText(
    first,
    called.options.flatMap(({ long }) => long ?? []),
  );
  const hint = nearest === undefined ? '' : `\n(Did you mean ${nearest}?)`;
  return `error: unknown option '${first}'${hint}\n${HELP}`;
}

const NO: ReadonlySet<string> = new Set(['false', 'no', 'off', '0']);
const SWITCH_VALUE = /^(true|false|yes|no|on|off|0|1)$/;

/** A value after an option that is switched on by its name alone counts as an argument too many. */
function switchWithValue(options: readonly Option[], args: readonly string[]): string | undefined {
  for (const [at, word] of args.entries()) {
    const value = args[at + 1] ?? '';
    const option = options.find(({ long, short }) => long === word || short === word);
    if (option === undefined || option.required || option.optional || !SWITCH_VALUE.test(value)) continue;
    const opposite = options.find(({ long }) => long === word.replace('--', '--no-'))?.long;
    const off = opposite === undefined ? `leave ${word} out` : `use ${opposite}`;
    return `error: option '${word}' takes no value, and got '${value}'. ${NO.has(value) ? `To switch it off, ${off}.` : `Write ${word} alone.`}\n${HELP}`;
  }
  return undefined;
}
