import { Readable } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import { SECOND } from '../clock.ts';
import type { MailAddress, SmtpServer } from '../config/mail.ts';

/** A message to one recipient. */
export interface MailMessage {
  readonly from: MailAddress;
  readonly replyTo?: string | undefined;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Without the angle brackets. */
  readonly messageId: string;
  readonly date: number;
}

/**
 * The result of one attempt. `refused`: the server has certainly not accepted the message; another attempt may succeed unless that is
 * permanent. `unknown`: the message was handed over, and no answer came.
 */
export type MailResult =
  | { readonly kind: 'accepted'; readonly answer: string }
  | { readonly kind: 'refused'; readonly permanent: boolean; readonly problem: string }
  | { readonly kind: 'unknown'; readonly problem: string };

export interface MailTransport {
  /** Attempts once to hand a message to the server. */
  send(message: MailMessage, signal: AbortSignal): Promise<MailResult>;
}

export interface TransportOptions {
  /** The name by which the client greets the server (RFC 5321 §4.1.1.1). */
  readonly greeting?: string | undefined;
  /** How long one attempt may take, in milliseconds. */
  readonly timeoutMs?: number;
  /** For tests: the certificate authority of the server. */
  readonly ca?: ConnectionOptions['ca'];
}

/** A server may examine a message for long before it answers, and an answer that is not awaited may mean a second copy. */
const ATTEMPT_TIMEOUT = 120 * SECOND;
const CONNECTION_TIMEOUT = 15 * SECOND;

/** An error of nodemailer: what the server answered, if anything. */
interface SmtpError {
  readonly message: string;
  readonly code?: string;
  readonly command?: string;
  readonly response?: string;
  readonly responseCode?: number;
}

/** Answers to a message that say that the connection lacks something, and nothing about the message. */
const ABOUT_THE_CONNECTION = [530, 534, 535, 538];

/** Sends each message over a connection of its own: what became of it is then known for certain, as far as it can be. */
export function smtpTransport(
  server: SmtpServer,
  { greeting, timeoutMs = ATTEMPT_TIMEOUT, ca }: TransportOptions = {},
): MailTransport {
  const { host, port, tls, credentials } = server;

  async function send(message: MailMessage, signal: AbortSignal): Promise<MailResult> {
    // Loaded on demand: a server that sends no mail starts without it.
    const [{ default: SmtpConnection }, { default: MailComposer }] = await Promise.all([
      import('nodemailer/lib/smtp-connection'),
      import('nodemailer/lib/mail-composer'),
    ]);
    const node = new MailComposer({ ...headersOf(message), disableFileAccess: true, disableUrlAccess: true }).compile();
    const body = await node.build();
    const envelope = { from: message.from.address, to: [message.to] };
    const connection = new SmtpConnection({
      host,
      port,
      name: greeting,
      secure: tls === 'implicit',
      requireTLS: tls === 'required',
      ignoreTLS: tls === 'off',
      connectionTimeout: CONNECTION_TIMEOUT,
      greetingTimeout: CONNECTION_TIMEOUT,
      socketTimeout: timeoutMs,
      socketCloseTimeout: SECOND,
      tls: { minVersion: 'TLSv1.2', rejectUnauthorized: tls !== 'optional', ...(ca !== undefined && { ca }) },
    });
    let handedOver = false;
    const source = Readable.from([body]);
    source.once('end', () => {
      handedOver = true;
    });
    const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    try {
      return await new Promise<MailResult>((resolve, reject) => {
        const step =
          <T>(next: (result: T) => void) =>
          (error: unknown, result?: unknown) =>
            error ? reject(error) : next(result as T);
        const transfer = () =>
          connection.send(
            envelope,
            source,
            step<{ response: string }>(({ response }) => resolve({ kind: 'accepted', answer: printable(response) })),
          );
        connection.on('error', reject);
        connection.on('end', () => reject(new Error('the connection was closed')));
        const stop = () => reject(new Error(signal.aborted ? 'the server is stopping' : timedOut(timeoutMs)));
        if (limit.aborted) return stop();
        limit.addEventListener('abort', stop, { once: true });
        connection.connect(
          step(() => {
            if (credentials === undefined) return transfer();
            const { user, password } = credentials;
            return connection.login({ credentials: { user, pass: password } }, step(transfer));
          }),
        );
      });
    } catch (error) {
      return explain(error as SmtpError, handedOver, `${host}:${port}`);
    } finally {
      // A later error of the connection is of no interest, but must have a listener.
      connection.on('error', () => {});
      connection.quit();
      connection.close();
    }
  }

  return { send };
}

const timedOut = (timeoutMs: number): string => `there was no answer within ${timeoutMs / SECOND} seconds`;

const headersOf = ({ from, replyTo, to, subject, text, html, messageId, date }: MailMessage) => ({
  from: { name: from.name ?? '', address: from.address },
  ...(replyTo !== undefined && { replyTo: { name: '', address: replyTo } }),
  to: { name: '', address: to },
  subject: oneLine(subject),
  text,
  html,
  messageId: `<${messageId}>`,
  date: new Date(date),
  // RFC 3834 §5: no out-of-office replies.
  headers: { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' },
});

/** Text without control characters, which could end a header. */
const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ').trim();

/** The text of a server, for a list or a log. */
const printable = (text: string): string => oneLine(text).slice(0, 300);

/** What the texts of OpenSSL and of the system mean, and what to do. */
const CAUSES: readonly (readonly [RegExp, string])[] = [
  [
    /wrong version number|packet length too long|SSL routines:.*(unknown protocol|record too)/i,
    'the port does not begin with TLS: use smtp:// (STARTTLS)',
  ],
  [/ECONNREFUSED/, 'nothing listens there (ECONNREFUSED). Correct host and port, or start the mail server'],
  [/ENOTFOUND|EAI_AGAIN/, 'the name of the mail server is not known (ENOTFOUND). Correct the host, or the DNS'],
];

const causeOf = (message: string): string => CAUSES.find(([pattern]) => pattern.test(message))?.[1] ?? message;

function explain(error: SmtpError, handedOver: boolean, server: string): MailResult {
  const { code, responseCode, response } = error;
  if (responseCode !== undefined && response !== undefined) {
    const aboutMessage = code === 'EENVELOPE' || code === 'EMESSAGE';
    const permanent = aboutMessage && responseCode >= 500 && !ABOUT_THE_CONNECTION.includes(responseCode);
    return { kind: 'refused', permanent, problem: printable(`${server} answered ${response}`) };
  }
  const problem = printable(`${server}: ${causeOf(error.message)}`);
  if (handedOver) return { kind: 'unknown', problem };
  return { kind: 'refused', permanent: code === 'EENVELOPE' || code === 'EMESSAGE', problem };
}
