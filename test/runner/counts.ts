// A reporter that writes how many tests there were and how they ended, for the runner to add up.
// https://nodejs.org/api/test.html#event-testsummary
import type { TestEvent } from 'node:test/reporters';

export default async function* counts(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) if (event.type === 'test:summary') yield JSON.stringify(event.data.counts);
}
