/**
 * The events that may hold a reason in an operator's words, by the account that it is about: `events/erase-store.ts` removes it
 * with the account. There are few of them, so the index costs no other event anything.
 */
export const personalDetails = (): readonly string[] => [
  "CREATE INDEX audit_event_with_reason ON audit_event (account_id) WHERE type IN ('account.banned', 'account.suspended')",
];
