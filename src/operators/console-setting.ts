import { onOff } from '../platform/config/readings.ts';
import { Variable } from '../platform/config/variable.ts';

/** The variable of people who use the console. */
export const consoleSecondFactor = new Variable('TESSERA_CONSOLE_SECOND_FACTOR', onOff, {
  initial: '`on`',
  about:
    'Whether operators sign in to the console with a second factor or a passkey. With `off`, a password is enough, and a thief of an operator’s password acts as them.',
});
