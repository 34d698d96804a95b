import type { Ledger } from './ledger.ts';
import { NotStarted } from './service.ts';

/** What a refusal has to tell: what to do. */
const REMEDY = /\b(Restore|Set|Run|Put|Let|Move|Name|Remove|Check|Make|Correct)\b/;

/** A start that ended has to say what to do; any other error is one of the trial. @returns what it said */
export function checkRefusal(ledger: Ledger, error: unknown): string {
  if (!(error instanceof NotStarted)) throw error;
  const { complaint } = error;
  if (!complaint.includes('Tessera cannot start') || !REMEDY.test(complaint))
    ledger.violated('the start', `expected a refusal that names a remedy, got: ${complaint.slice(0, 500)}`);
  return complaint;
}
