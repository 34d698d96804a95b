/** Whether this program is run by npx, in a shell of its own. */
export const isRunByNpx = (): boolean => process.env['npm_command'] === 'exec';
