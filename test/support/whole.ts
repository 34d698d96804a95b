/** Whether to run all of what is otherwise left to a sample: `npm run test:all`. */
export const WHOLE = process.env['TESSERA_TEST_WHOLE'] !== undefined;

/** One of so many like cases in turn, the first one included; all of them where everything is asked for. */
export const sampleOf = <T>(cases: readonly T[], every: number): readonly T[] =>
  WHOLE ? cases : cases.filter((_, index) => index % every === 0);
