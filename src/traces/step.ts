/** The steps of an authorization, in their usual order, and the other things that an app or a browser asks for. */
export const stepNames = [
  'authorize',
  'sign-in',
  'consent',
  'code',
  'device',
  'token',
  'userinfo',
  'refresh',
  'introspection',
  'revocation',
  'sign-out',
  'registration',
  'cross-origin',
  'account',
  'admin',
  'other',
] as const;
export type StepName = (typeof stepNames)[number];

/** What is known of a step. Every text is masked before it is stored. */
export interface StepFacts {
  readonly method?: string | undefined;
  /** The pattern of the route, never the URL. */
  readonly path?: string | undefined;
  readonly status?: number | undefined;
  readonly error?: string | undefined;
  /** The description that the caller got. */
  readonly description?: string | undefined;
  /** The cause, where the caller was not told all of it. */
  readonly reason?: string | undefined;
  /** The clause of a standard, or of the contract. */
  readonly rule?: string | undefined;
  readonly expected?: string | undefined;
  readonly received?: string | undefined;
  readonly remedy?: string | undefined;
  /** The parameters that are not confidential. */
  readonly sent?: string | undefined;
  /** Scopes and parameters that change nothing. */
  readonly ignored?: string | undefined;
}

/** A step to record. */
interface NewStep {
  readonly requestId: string | null;
  readonly step: StepName;
  readonly clientId?: string | null | undefined;
  readonly accountId?: string | null | undefined;
  /**
   * What the step was about: the digest under which a pending request or a code is stored, or the id of a token family. A handle or
   * a code cannot be found from it.
   */
  readonly flow?: string | null | undefined;
  readonly facts: StepFacts;
}

/** A step that was completed. */
export interface CompletedStep extends NewStep {
  readonly at: number;
  /** What the step issued, with which the next one continues. */
  readonly leadsTo?: string | null | undefined;
}

/** A step that was refused. */
export interface RefusedStep extends NewStep {
  /** Whether the client authenticated, or its token was verified, which its users have, too. Anyone can name a client. */
  readonly proof?: 'client' | 'token' | undefined;
  /** Limits how many steps one address adds. */
  readonly address?: string | null | undefined;
}

/** How much of a digest is stored: 128 bits, which an id of a family is shorter than. */
const LENGTH = 22;

/** The stored form of what a step was about. */
export const storedFlow = (flow: string | null | undefined): string | null => flow?.slice(0, LENGTH) ?? null;

/** Whether a flow is that of a token family, and so its id. */
export const isFamily = (flow: string): boolean => /^\d{1,19}$/.test(flow);
