import { type Reading, Variable } from '../platform/config/variable.ts';

const SETTINGS = ['off', 'offered', 'required'] as const;
/** Whether people may set up a second factor, and whether every app requires one. */
export type SecondFactorSetting = (typeof SETTINGS)[number];

function secondFactor(value: string): Reading<SecondFactorSetting> {
  const setting = SETTINGS.find((known) => known === value);
  return setting === undefined ? { problem: `must be one of ${SETTINGS.join(', ')}` } : { value: setting };
}

export const secondFactorVariable = new Variable('TESSERA_SECOND_FACTOR', secondFactor, {
  initial: '`offered`',
  about:
    'Whether people set up a second factor: `off` offers none, and those that exist are still asked for; `offered` leaves it to them, except where their organization or an app requires one; `required` requires one, or a passkey, of everyone for each authorization of an app.',
});
