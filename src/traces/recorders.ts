import { type Clock, iso } from '../platform/clock.ts';
import { createTraceRecorder, type RecorderOptions, type TraceRecorder, untraced } from './recorder.ts';
import { stepLine } from './rules/step-line.ts';
import type { CompletedStep, RefusedStep, StepFacts, StepName } from './step.ts';

/** What another provider refuses is about its registration here. */
const UPSTREAM = /\/login\/with\//;
/** The steps of an app. What a person does on a page, or a stranger asks for, is not for the developer's terminal. */
const OF_APPS: ReadonlySet<StepName> = new Set([
  'authorize',
  'device',
  'token',
  'refresh',
  'userinfo',
  'introspection',
  'revocation',
  'sign-out',
  'registration',
  'cross-origin',
]);
/** Addresses of the protocol, also misspelled ones. */
const PROTOCOL = /\/(oidc|api\/v2\/oauth|\.well-known)(\/|$)/;

const isOfApp = (step: StepName, { path = '' }: StepFacts): boolean =>
  OF_APPS.has(step) || UPSTREAM.test(path) || (step === 'other' && PROTOCOL.test(path));

/** Where a developer reads what becomes of the requests of an app. */
export interface DeveloperTerminal {
  write(line: string): void;
  /** The command that explains a request. */
  explain(requestId: string): string;
}

/** The recorder, which also tells of each request of an app that is refused or ignored in part, in one line. */
export function telling(recorder: TraceRecorder, terminal: DeveloperTerminal, clock: Clock): TraceRecorder {
  const show = ({ step, requestId, clientId = null, facts }: CompletedStep | RefusedStep, outcome: string): void => {
    if (!isOfApp(step, facts)) return;
    const line = { ...facts, step, requestId, clientId, outcome, at: iso(clock()) };
    terminal.write(stepLine(line, terminal.explain));
  };
  return {
    isFirstAnswer: (familyId) => recorder.isFirstAnswer(familyId),
    flush: () => recorder.flush(),
    stop: () => recorder.stop(),
    completed: {
      push(...steps) {
        for (const step of steps) {
          if (step.facts.ignored !== undefined || step.facts.remedy !== undefined) show(step, 'success');
        }
        return recorder.completed.push(...steps);
      },
    },
    refused(step) {
      show(step, 'failure');
      recorder.refused(step);
    },
  };
}

/**
 * The recorder of a server.
 * @param isKept whether steps are stored
 * @param options.terminal undefined where no developer reads along
 */
export function openTraces(
  isKept: boolean,
  { terminal, ...options }: RecorderOptions & { readonly terminal: DeveloperTerminal | undefined },
): TraceRecorder {
  const recorder = isKept ? createTraceRecorder(options) : untraced;
  return terminal === undefined ? recorder : telling(recorder, terminal, options.clock);
}

/** The recorder, but while `isSilent` one that records nothing. */
export function silenced(recorder: TraceRecorder, isSilent: () => boolean): TraceRecorder {
  const now = () => (isSilent() ? untraced : recorder);
  return {
    completed: { push: (...steps) => now().completed.push(...steps) },
    isFirstAnswer: (...of) => now().isFirstAnswer(...of),
    refused: (...step) => now().refused(...step),
    flush: () => now().flush(),
    stop: () => recorder.stop(),
  };
}
