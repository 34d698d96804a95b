import type { StepFacts } from '../step.ts';

/** What is told of a step, in this order. */
const FACTS = ['error', 'description', 'reason', 'rule', 'expected', 'received', 'remedy', 'sent', 'ignored'] as const;
export type FactName = (typeof FACTS)[number];

/** The facts of a step with their names, each text once: for the command line and the console. */
export function factsOf(step: StepFacts): readonly (readonly [name: FactName, text: string])[] {
  const told = new Set<string>();
  return FACTS.flatMap((name) => {
    const text = step[name];
    if (text === undefined || told.has(text) || (name === 'reason' && text === step.received)) return [];
    told.add(text);
    return [[name, text] as const];
  });
}
