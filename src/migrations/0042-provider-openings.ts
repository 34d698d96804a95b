const DAYS_30 = 30 * 86_400_000;

/**
 * Which accounts were created or connected with a provider that an operator had registered or enabled: who runs the provider signs in to them.
 * An authenticator app that is older has kept them out.
 */
export const providerOpenings = (): readonly string[] => [
  `INSERT INTO account_opening (operator_id, account_id, kind, acted_at, usable_at, moved_at, ended_at, review_at)
    SELECT act.operator_id, one.account_id,
      CASE one.created_at WHEN account.created_at THEN 'joined' ELSE 'connected' END,
      MAX(act.acted_at),
      CASE WHEN totp_secret.confirmed_at < one.created_at THEN NULL ELSE one.created_at END,
      NULL, NULL, one.created_at + ${DAYS_30}
    FROM upstream_identity AS one
    JOIN account ON account.id = one.account_id
    JOIN upstream_act AS act ON act.upstream_id = one.upstream_id
      AND act.kind IN ('registered', 'enabled') AND act.acted_at <= one.created_at
    LEFT JOIN totp_secret ON totp_secret.account_id = one.account_id
    GROUP BY act.operator_id, one.id, one.account_id, one.created_at, account.created_at, totp_secret.confirmed_at
    ORDER BY one.created_at, one.id, act.operator_id`,
];
