// Stands for a program in the shell blocks of the documentation: hands its arguments to `program-host.ts` and prints the answer.
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

const [program, ...args] = process.argv.slice(2);
const input = args.includes('--password-stdin') ? await text(process.stdin) : '';
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith('TESSERA_')));
const socket = connect(process.env.DOCS_SOCKET);
socket.end(JSON.stringify({ program, args, input, environment }));
const { out, errors, code } = JSON.parse(await text(socket));
process.stdout.write(out);
process.stderr.write(errors);
process.exitCode = code;
