import { SECOND } from '../../platform/clock.ts';
import { compactCode } from '../../platform/validation/typed-text.ts';

/** How long each code of an authenticator app is shown (RFC 6238 §4.1). */
const TOTP_STEP = 30 * SECOND;

export const timeStep = (now: number): number => Math.floor(now / TOTP_STEP);

/**
 * The time steps whose codes are accepted: the current one and those beside it (RFC 6238 §5.2), and of these only the ones after the
 * last that was accepted, since each code is accepted once.
 */
export function acceptedSteps(now: number, lastStep: number): readonly number[] {
  const current = timeStep(now);
  return [current - 1, current, current + 1].filter((step) => step > lastStep);
}

/** How far a clock may be off to be recognized as wrong, in time steps: ten minutes. */
const FAR_STEPS = 20;

/** The time steps of a clock that is wrong by some minutes. */
export function nearbySteps(now: number): readonly number[] {
  const first = timeStep(now) - FAR_STEPS;
  return Array.from({ length: 2 * FAR_STEPS + 1 }, (_, index) => first + index);
}

/** The six digits of an authenticator app, as typed; undefined for anything else. */
export function parseTotpCode(typed: string): string | undefined {
  const code = compactCode(typed);
  return /^\d{6}$/.test(code) ? code : undefined;
}

/** The characters of recovery codes: those of Crockford's base 32, none of which is mistaken for another. */
export const RECOVERY_CODE_ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
/** 60 bits. They are stored as keyed digests, and tries are limited. */
export const RECOVERY_CODE_LENGTH = 12;

/** A recovery code, as typed: in either case, in groups or not, and with letters for the digits that they look like. */
export function parseRecoveryCode(typed: string): string | undefined {
  const code = compactCode(typed).toLowerCase().replaceAll('o', '0').replaceAll(/[il]/g, '1');
  if (code.length !== RECOVERY_CODE_LENGTH) return undefined;
  return [...code].every((character) => RECOVERY_CODE_ALPHABET.includes(character)) ? code : undefined;
}

/** A text in groups of four characters, which people can copy by hand. */
export const inGroups = (text: string, separator: string): string => text.match(/.{1,4}/gs)?.join(separator) ?? '';
