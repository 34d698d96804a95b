/**
 * The events that may contain text that an operator wrote about an account: `audit/erase-store.ts` removes it with the account. The
 * index contains only these events, so it does not make others more expensive to write.
 */
export const personalDetails = (): readonly string[] => [
  "CREATE INDEX audit_event_with_reason ON audit_event (account_id) WHERE type IN ('account.banned', 'account.suspended')",
];
