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

/** A person who declines ends the request of the app. */
const isDeclined = (step: StepName, { error }: StepFacts): boolean => step === 'consent' && error === 'access_denied';

const isOfApp = (step: StepName, facts: StepFacts): boolean => {
  const { path = '' } = facts;
  return (
    OF_APPS.has(step) || isDeclined(step, facts) || UPSTREAM.test(path) || (step === 'other' && PROTOCOL.test(path))
  );
};

/** Where a developer reads what becomes of the requests of an app. */
export interface DeveloperTerminal {
  write(line: string): void;
  /** The command that explains a request. */
  explain(requestId: string): string;
}

/** How much advice is remembered as told. */
const MOST_ADVISED = 1000;

/**
 * The recorder, which also tells of each request of an app that is refused or ignored in part, in one line. Advice about a request that
 * succeeded is told once for each app.
 */
export function telling(recorder: TraceRecorder, terminal: DeveloperTerminal, clock: Clock): TraceRecorder {
  const show = ({ step, requestId, clientId = null, facts }: CompletedStep | RefusedStep, outcome: string): void => {
    if (!isOfApp(step, facts)) return;
    const line = { ...facts, step, requestId, clientId, outcome, at: iso(clock()) };
    terminal.write(stepLine(line, terminal.explain));
  };
  // What a developer may leave as it is, and would read at each sign-in.
  const advised = new Set<string>();
  const isNews = ({ clientId, facts: { remedy, ignored } }: CompletedStep): boolean => {
    if (ignored !== undefined) return true;
    if (remedy === undefined) return false;
    const key = `${clientId} ${remedy}`;
    if (advised.has(key)) return false;
    if (advised.size >= MOST_ADVISED) advised.clear();
    advised.add(key);
    return true;
  };
  return {
    isFirstAnswer: (familyId) => recorder.isFirstAnswer(familyId),
    flush: () => recorder.flush(),
    stop: () => recorder.stop(),
    completed: {
      push(...steps) {
        for (const step of steps) {
          if (isNews(step)) show(step, 'success');
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
