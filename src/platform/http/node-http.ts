/**
 * The HTTP of the runtime. An import statement would read every name that its module has, and one of them loads all of `fetch`:
 * 15 MiB and 25 ms of every start, for what nothing here calls.
 */
export const { createServer, request } = process.getBuiltinModule('node:http');
