import { InvalidArgumentError } from 'commander';
import { DAY, HOUR, MINUTE, SECOND } from '../platform/clock.ts';
import { formats } from '../platform/validation/formats.ts';

const UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY };

/** Reads an instant of an option, or how far off it is: `90m`. */
const moment =
  (direction: 1 | -1, otherwise: string) =>
  (text: string): string => {
    const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
    if (count !== undefined) return new Date(Date.now() + direction * Number(count) * (UNITS[unit] ?? 0)).toISOString();
    if (formats.instant(text)) return text;
    throw new InvalidArgumentError(`It must be an instant such as 2030-01-31T12:00:00Z, or ${otherwise}.`);
  };

export const pastMoment = moment(-1, '90m, 24h or 7d ago');
export const comingMoment = moment(1, '90m, 24h or 7d from now');
