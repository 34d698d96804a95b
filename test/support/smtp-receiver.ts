import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { certificate, certificateKey } from './certificate.ts';

/** A message that the server has accepted. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly raw: string;
  readonly secure: boolean;
  readonly user: string | undefined;
  /** The name by which the client greeted the server. */
  readonly greeting: string;
}

/** How the server answers a message: it accepts it, answers with a code, says nothing, or accepts it and closes the connection. */
export type MailAnswer = 'accept' | number | 'silence' | 'accept and close';

export interface SmtpReceiver {
  readonly port: number;
  readonly received: readonly ReceivedMail[];
  /** The answers to the next messages, in order; afterwards it accepts them. */
  answer(...answers: readonly MailAnswer[]): void;
  /** Called once a message has come that is answered with silence, with what accepts it after all. */
  silent: ((accept: () => void) => void) | undefined;
  /** Resolves when the next message is accepted. */
  next(): Promise<void>;
  close(): Promise<void>;
}

const answerError = (code: number): Error =>
  Object.assign(new Error(code < 500 ? 'Try again later' : 'No such mailbox'), { responseCode: code });

/** A real SMTP server on this machine. It asks for STARTTLS and a password where these settings say so. */
export async function startSmtpReceiver(
  settings: { readonly tls?: boolean; readonly login?: { readonly user: string; readonly password: string } } = {},
): Promise<SmtpReceiver> {
  const { tls = false, login } = settings;
  const received: ReceivedMail[] = [];
  const answers: MailAnswer[] = [];
  const sockets = new Set<Socket>();
  const receiver: Pick<SmtpReceiver, 'silent'> = { silent: undefined };
  const waiting: (() => void)[] = [];
  const server = new SMTPServer({
    key: certificateKey,
    cert: certificate,
    authOptional: login === undefined,
    disabledCommands: [...(tls ? [] : ['STARTTLS']), ...(login === undefined ? ['AUTH'] : [])],
    disableReverseLookup: true,
    closeTimeout: 0,
    onAuth({ username, password }, _session, callback) {
      if (username === login?.user && password === login?.password) return callback(null, { user: username });
      return callback(Object.assign(new Error('Invalid username or password'), { responseCode: 535 }));
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        const answer = answers.shift() ?? 'accept';
        if (typeof answer === 'number') return callback(answerError(answer));
        if (answer === 'silence') return receiver.silent?.(() => accept(callback));
        if (answer === 'accept') return accept(callback);
        return accept(() => {
          for (const socket of sockets) socket.destroy();
        });
      });
      const accept = (respond: () => void) => {
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          raw: Buffer.concat(chunks).toString('utf8'),
          secure: session.secure,
          user: session.user,
          greeting: session.hostNameAppearsAs,
        });
        respond();
        for (const resolve of waiting.splice(0)) resolve();
      };
    },
  });
  // What a client does that goes away is no failure of a test.
  server.on('error', () => {});
  server.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return Object.assign(receiver, {
    port: (listening.address() as AddressInfo).port,
    received,
    answer: (...next: readonly MailAnswer[]) => void answers.push(...next),
    next: () => new Promise<void>((resolve) => void waiting.push(resolve)),
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  });
}
