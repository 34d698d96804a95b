import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { DAY, HOUR, MINUTE, SECOND } from '../platform/clock.ts';
import { decodeText } from '../platform/text-input.ts';
import { formats } from '../platform/validation/formats.ts';

// Parsers of option values. Each throws commander's InvalidArgumentError, whose message follows the name of the option.

/** Collects the values of a repeatable option. */
export const collect = (value: string, previous: readonly string[] | undefined): readonly string[] => [
  ...(previous ?? []),
  value,
];

export const wholeNumber =
  (min: number, max: number) =>
  (text: string): number => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };

export function seconds(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It must be a whole number of seconds.');
  return Number(text);
}

const UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** Parses a time, or a duration relative to now: `90m`. */
const time =
  (direction: 1 | -1, durations: string) =>
  (text: string): string => {
    const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
    if (count !== undefined) return new Date(Date.now() + direction * Number(count) * (UNITS[unit] ?? 0)).toISOString();
    if (formats.instant(text)) return text;
    throw new InvalidArgumentError(`It must be a time such as 2030-01-31T12:00:00Z, or ${durations}.`);
  };

export const pastTime = time(-1, '90m, 24h or 7d ago');
export const futureTime = time(1, '90m, 24h or 7d from now');

const aboutPem = (text: string): string =>
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text)
    ? 'this is PEM, and a private key, which stays with the app: give a JSON Web Key Set of public keys'
    : 'this is PEM: give a JSON Web Key Set of public keys';

/** Reads and parses a JSON file. The empty path stands for no file. */
export function jsonFile(path: string): unknown {
  if (path === '') return '';
  try {
    const reading = decodeText(readFileSync(path));
    if ('problem' in reading) throw new Error(`the file ${reading.problem}`);
    if (reading.text.trimStart().startsWith('-----BEGIN ')) throw new Error(aboutPem(reading.text));
    return JSON.parse(reading.text);
  } catch (error) {
    // The message of a JSON parser quotes the text, which may be a private key.
    const reason = error instanceof SyntaxError ? 'it is not JSON' : error instanceof Error ? error.message : 'unknown';
    throw new InvalidArgumentError(`It cannot be read: ${reason}.`);
  }
}

export function binaryFile(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new InvalidArgumentError(`It cannot be read: ${error instanceof Error ? error.message : 'unknown'}.`);
  }
}
