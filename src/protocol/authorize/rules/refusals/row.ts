import { type Column, columnOf, type RefusalRow, sentence } from '../../../refusals/row.ts';
import type { AuthorizationErrorCode } from '../request.ts';

/** OpenID Connect Core 1.0: where a request is refused that may show no page. */
export const NO_PAGE = 'OpenID Connect Core 1.0 §3.1.2.6';

export type AuthorizationRefusal<Facts> = RefusalRow<Facts, AuthorizationErrorCode>;

interface Texts<Facts> {
  readonly when: string;
  readonly error: Column<Facts, AuthorizationErrorCode>;
  /** What is wrong, and what to do: together they are the description. */
  readonly cause: Column<Facts, string>;
  readonly remedy?: Column<Facts, string>;
  /** For the log and the metrics, where the cause depends on the request. */
  readonly reason?: Column<Facts, string>;
  readonly rule?: string;
  readonly expected?: Column<Facts, string>;
  readonly received?: Column<Facts, string>;
  /** What the operator can do, where that is something else. */
  readonly operatorRemedy?: Column<Facts, string>;
  readonly example?: Facts;
}

/** A refusal whose description is made of the cause and the remedy. */
export function redirectRow<Facts = unknown>(texts: Texts<Facts>): AuthorizationRefusal<Facts> {
  const { when, error, cause, remedy, rule, expected, received, operatorRemedy = remedy, example } = texts;
  const reason = texts.reason ?? (typeof cause === 'string' ? cause : undefined);
  const textOf = (column: Column<Facts, string> | undefined, facts: Facts) => column && columnOf(column, facts);
  return {
    when,
    app: {
      error,
      description: (facts) => {
        const advice = textOf(remedy, facts);
        return advice === undefined ? columnOf(cause, facts) : `${columnOf(cause, facts)}: ${advice}`;
      },
    },
    operator: {
      ...(reason !== undefined && { reason }),
      trace: (facts) => {
        const advice = textOf(operatorRemedy, facts);
        return {
          rule,
          expected: textOf(expected, facts),
          received: textOf(received, facts),
          remedy: advice && sentence(advice),
        };
      },
    },
    ...(example !== undefined && { example }),
  };
}
