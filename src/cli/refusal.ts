import { Failure, type FailureKind } from '../platform/failure.ts';

/** The kind of failure that a code of the admin API stands for. */
const KINDS: Readonly<Record<string, FailureKind>> = {
  invalid_request: 'invalid',
  not_found: 'not found',
  conflict: 'conflict',
  precondition_failed: 'conflict',
  insufficient_permission: 'insufficient permission',
  access_denied: 'session ended',
  rate_limit_exceeded: 'limited',
  temporarily_unavailable: 'unavailable',
};

/** A refusal of the admin API as the failure of a command; undefined for one that says nothing about what was asked. */
export function refusalOfApi(code: string, description: string): Failure | undefined {
  const kind = KINDS[code];
  return kind && new Failure(kind, description);
}
