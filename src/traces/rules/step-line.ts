import { masked } from '../../platform/masking.ts';
import type { StepFacts, StepName } from '../step.ts';

/** What a line tells of a step. */
interface LineStep extends StepFacts {
  readonly at: string;
  readonly step: StepName;
  readonly outcome: string;
  readonly requestId: string | null;
  readonly clientId: string | null;
}

/**
 * A step in one line, for the terminal of a developer: what was wrong, what to do, and the command for the whole trace. Of a completed
 * step, what was ignored.
 * @param explain the command that explains a request
 */
export function stepLine(
  { at, step, outcome, requestId, clientId, ...facts }: LineStep,
  explain: (requestId: string) => string,
): string {
  const mark = outcome === 'failure' ? '✗' : '✓';
  const answer = [facts.status, facts.error].filter((part) => part !== undefined).join(' ');
  const what = [step, answer === '' ? '' : `(${answer})`, clientId === null ? '' : `app ${clientId}`];
  const parts = [
    facts.description ?? facts.received ?? facts.reason,
    isFurther(facts) && `Received: ${facts.received}.`,
    facts.ignored && `Ignored: ${facts.ignored}.`,
    facts.remedy !== undefined && !hasRemedy(facts.description, facts.remedy) && `Remedy: ${facts.remedy}`,
  ];
  const text = parts.filter((part) => typeof part === 'string' && part !== '').map((part) => masked(String(part)));
  // The ID is not masked, or the command would lead nowhere.
  const isExplained =
    requestId !== null && (outcome === 'failure' || facts.ignored !== undefined || facts.remedy !== undefined);
  const more = isExplained ? [`More: ${explain(requestId)}`] : [];
  return [`${mark} ${at.slice(11, 19)} ${what.filter((part) => part !== '').join(' ')}:`, ...text, ...more].join(' ');
}

/** Whether what came says more than the description, which is often the same for several causes. */
const isFurther = ({ description, received }: StepFacts): boolean =>
  description !== undefined && received !== undefined && !description.includes(received) && !received.includes('=');

/** A remedy that follows a colon in the description begins there in lower case. */
const hasRemedy = (description: string | undefined, remedy: string): boolean => {
  // Headers have no typographic quotes, and a remedy with a command is longer than its sentence in the description.
  const plain = (text: string) => text.toLowerCase().replaceAll('’', "'");
  const [sentence = '', command] = plain(remedy).split(/(?<=:) (?=get |post |put |patch |delete |tessera )/);
  if (description === undefined || !plain(description).includes(sentence)) return false;
  // A command that the description lacks is told.
  return command === undefined || !command.startsWith('tessera ') || plain(description).includes(command);
};
