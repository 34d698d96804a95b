/** A request or a response, in parts. */
export interface Message {
  /** The start line and the headers, as they were sent. */
  readonly head: string;
  /** Indented if it is JSON. */
  readonly body: string;
}

/** Splits an HTTP message where its body begins. */
export function messageParts(message: string): Message {
  const end = message.indexOf('\r\n\r\n');
  const [head, body] = end === -1 ? [message.trimEnd(), ''] : [message.slice(0, end), message.slice(end + 4)];
  return { head, body: /^content-type: application\/json/im.test(head) ? indented(body) : body };
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

/** The `error_description` of a response in JSON. */
export function errorDescription({ body }: Message): string | undefined {
  try {
    const { error_description: text } = JSON.parse(body) as { error_description?: unknown };
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}
