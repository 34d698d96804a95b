import { FAULTS, relevant } from './checker.ts';
import { show } from './history.ts';
import type { Summary } from './run.ts';

/** The violations of a run, with the part of the history that has to do with each. */
export function explain({ violations }: Summary, most = 3): string {
  return violations
    .slice(0, most)
    .map(({ violation, history }) => {
      const { fault, operation, text } = violation;
      const lines = relevant(history, violation)
        .sort((one, other) => one.start - other.start)
        .map((one) => `  ${show(one)}`);
      return [`${fault}: ${show(operation)} (${text})`, ...lines].join('\n');
    })
    .join('\n\n');
}

/** What a run came to. */
export function summarize({ operations, seconds, kills, outcomes, violations }: Summary): string {
  const count = (number: number) => number.toLocaleString('en').padStart(10);
  const byOutcome = [...outcomes].sort(([one], [other]) => (one < other ? -1 : 1));
  const byFault = FAULTS.map((fault) => [
    fault,
    violations.filter(({ violation }) => violation.fault === fault).length,
  ]);
  return [
    `${operations.toLocaleString('en')} operations in ${seconds.toFixed(0)} s, ${Math.round(operations / seconds)} a second`,
    ...(kills > 0 ? [`${kills} kills`] : []),
    ...byOutcome.map(([outcome, number]) => `${count(number)}  ${outcome}`),
    'violations',
    ...byFault.map(([fault, number]) => `${count(Number(number))}  ${fault}`),
  ].join('\n');
}
