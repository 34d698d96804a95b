/**
 * The runtime's HTTP module. An import statement would evaluate all of its exports, one of which loads `fetch`: 15 MiB and 25 ms
 * at every start, although nothing at the start uses it.
 */
export const { createServer, request } = process.getBuiltinModule('node:http');
