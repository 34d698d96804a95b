import type { AuditEvent, EventType } from '../../audit/audit.ts';
import type { ErrorCode } from '../../platform/error-codes.ts';
import type { RefusalDetail } from '../../platform/oauth-error.ts';

/** A value, or how it follows from the facts. */
export type Column<Facts, T> = T | ((facts: Facts) => T);

/** One refusal of an endpoint. */
export interface RefusalRow<Facts, Code extends string = ErrorCode> {
  /** For docs/reference/errors.md. */
  readonly when: string;
  /** The response: all that the developer of the app may know. */
  readonly app: {
    readonly error: Column<Facts, Code>;
    /** Where it is not that of the endpoint for the code. */
    readonly status?: number;
    readonly description: Column<Facts, string>;
  };
  /** What only the operator may know. */
  readonly operator: {
    /** For the log and the metrics, from a bounded set. */
    readonly reason?: Column<Facts, string>;
    /** For the trace, with the remedy that `tessera explain` prints. */
    readonly trace?: Column<Facts, RefusalDetail>;
    /** The audit event; without it, the refusal says nothing about a credential, and is not recorded. */
    readonly event?: Column<Facts, EventType>;
    readonly details?: Column<Facts, NonNullable<AuditEvent['details']>>;
    /** Whether the refusal ended what the credential gave. Nobody can cause that twice, so the event is always written. */
    readonly isEnding?: (facts: Facts) => boolean;
  };
  /** Facts of an example for the reference, where the description depends on them. */
  readonly example?: Facts;
}

/** A catalogue, whatever its rows are about: for the reference and the tests. */
export type Catalogue = Readonly<
  Record<string, Omit<RefusalRow<never, string>, 'example'> & { readonly example?: unknown }>
>;

/** What is known of the credential, for the audit event. */
export interface AboutCredential {
  readonly accountId?: string | null;
  readonly familyId?: string;
}

/** What each row is about has its own type, so that a refusal cannot leave out what its texts need. */
export const row = <Facts extends AboutCredential = AboutCredential>(refusal: RefusalRow<Facts>): RefusalRow<Facts> =>
  refusal;

export const recorded = (reason: string) => ({
  event: 'token.refused' as const,
  details: ({ familyId }: AboutCredential) => (familyId === undefined ? { reason } : { familyId, reason }),
});

export const AGAIN = 'Send the user through authorization again.';
export const AGAIN_ON_DEVICE = 'Start again at the device authorization endpoint.';

/** What follows a colon in the response, as a sentence of its own in the trace. */
export const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const columnOf = <Facts, T extends string | object>(column: Column<Facts, T>, facts: Facts): T =>
  typeof column === 'function' ? column(facts) : column;
