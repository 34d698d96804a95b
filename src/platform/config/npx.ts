/** Whether npx runs this program, in a shell of its own. */
export const isRunByNpx = (): boolean => process.env['npm_command'] === 'exec';
