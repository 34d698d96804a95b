export const PROBE_STEPS = ['metadata', 'keys', 'client'] as const;
export const PROBE_LEVELS = ['ok', 'warning', 'problem'] as const;

/** What was found in one step of a test. */
export interface ProbeStep {
  readonly step: (typeof PROBE_STEPS)[number];
  readonly level: (typeof PROBE_LEVELS)[number];
  /** A sentence for operators. */
  readonly found: string;
}
