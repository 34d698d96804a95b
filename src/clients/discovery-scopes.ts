import type { Reading } from '../platform/config/variable.ts';

const SCOPE = /^[A-Za-z][A-Za-z0-9._:/-]{0,63}$/;

/** Names of scopes, separated by commas. */
export function discoveryScopes(value: string): Reading<readonly string[]> {
  const names = value.split(',').map((name) => name.trim());
  return names.every((name) => SCOPE.test(name))
    ? { value: [...new Set(names)] }
    : { problem: 'must be names of scopes, separated by commas, for example notes.read,notes.write' };
}
