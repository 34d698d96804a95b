import { type Reading, Variable } from '../platform/config/variable.ts';

/** Which apps may register themselves: none, those with an initial access token, or any. */
export type RegistrationSetting = 'off' | 'token' | 'open';

function registration(value: string): Reading<RegistrationSetting> {
  return value === 'off' || value === 'token' || value === 'open'
    ? { value }
    : { problem: 'must be off, token or open' };
}

export const registrationVariable = new Variable('TESSERA_REGISTRATION', registration, {
  initial: '`off`',
  about:
    'Whether apps can [register themselves](../how-to/connect-agents.md#let-apps-register-themselves) (RFC 7591): `off`, `token` for those with an initial access token, or `open` for all. Apps that are registered already stay so.',
});
