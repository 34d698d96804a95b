import type { ColumnTypes } from '../platform/database/migrations/kinds.ts';

const DAYS_30 = 30 * 86_400_000;

/**
 * When operators did something to an account with which they may sign in to it, and until when: what was made through the account meanwhile
 * rests on them. No row refers to another one, so that the record stays when the account is deleted. Of before, the last act of each kind is
 * known; an authenticator app that is older than the act has kept its operator out.
 */
export const accountOpenings = ({ int, options, serial }: ColumnTypes): readonly string[] => [
  `CREATE TABLE account_opening (
    id ${serial},
    operator_id ${int} NOT NULL,
    account_id ${int} NOT NULL,
    kind TEXT NOT NULL,
    acted_at ${int} NOT NULL,
    usable_at ${int},
    moved_at ${int},
    ended_at ${int},
    review_at ${int} NOT NULL
  ) ${options}`,
  'CREATE INDEX account_opening_by_operator ON account_opening (operator_id, acted_at)',
  'CREATE INDEX account_opening_by_account ON account_opening (account_id)',
  'CREATE INDEX account_opening_by_review ON account_opening (review_at, id DESC)',
  `INSERT INTO account_opening (operator_id, account_id, kind, acted_at, usable_at, moved_at, ended_at, review_at)
    SELECT act.operator_id, act.account_id, act.kind, act.acted_at,
      CASE WHEN totp_secret.confirmed_at < act.acted_at THEN NULL ELSE act.acted_at END,
      CASE act.kind WHEN 'address' THEN act.acted_at END, NULL, act.acted_at + ${DAYS_30}
    FROM account_act AS act
    JOIN account ON account.id = act.account_id
    LEFT JOIN totp_secret ON totp_secret.account_id = act.account_id
    WHERE act.kind IN ('address', 'password', 'factor removed', 'recovered') AND act.acted_at > account.created_at
    ORDER BY act.id`,
];
