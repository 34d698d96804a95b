/** Whether to run all of what is otherwise left to a sample: `npm run test:all`. */
export const WHOLE = process.env['TESSERA_TEST_WHOLE'] !== undefined;
