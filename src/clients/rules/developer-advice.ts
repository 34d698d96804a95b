/** What a developer is told about a request that cannot be answered by a redirect. */
export interface DeveloperAdvice extends Remedy {
  /** What is wrong. */
  readonly description: string;
  /** What should have come, where the description does not say it. */
  readonly expected?: string;
  /** The name of the app, if it is known. */
  readonly app?: string;
  /** The parameter as it was sent, if it helps to repeat it. */
  readonly came?: { readonly name: string; readonly value: string } | undefined;
  /** The closest registered URI, if the caller may see it. */
  readonly nearest?: NearestUri | undefined;
  /** How the URI differs from the closest one: for the log, whether or not the caller may see it. */
  readonly differences?: readonly string[];
}

/** What to do, and how: an app's developer may have an admin key, or know the operator. */
export interface Remedy {
  readonly remedy: string;
  /** A call of the admin API that shows or does it. */
  readonly call?: string;
  /** A command for the server's own machine that shows or does it. Developers of apps have no copy of the program. */
  readonly command?: string;
}

/** Where the registration of a client is shown. */
export const readClient = (id: string): Required<Pick<Remedy, 'call' | 'command'>> => ({
  call: `GET /api/v2/admin/clients/${id}`,
  command: `tessera client show ${id}`,
});

/** Where a command runs. */
export const WHERE_COMMANDS_RUN = 'On the server (from a clone: npm run tessera -- ...)';

/** The advice in one line, for a caller that reads JSON. It ends with the command. */
export function formatAdvice({ description, nearest, remedy, call, command }: DeveloperAdvice): string {
  const closest =
    nearest && `The closest registered one, ${nearest.registered}, differs in: ${nearest.differences.join(', ')}.`;
  const byApi = call && `Admin API: ${call}.`;
  const byCommand = command && `${WHERE_COMMANDS_RUN}: ${command}`;
  const line = [description, closest, remedy, byApi, byCommand].filter((text) => text !== undefined).join(' ');
  // RFC 6749 §5.2: ASCII.
  return line.replaceAll('’', "'");
}

/** A part in which two URIs differ. */
export type UriDifference =
  | 'white space'
  | 'percent-encoding'
  | 'letter case'
  | 'slash at the end'
  | 'scheme'
  | 'user name'
  | 'host'
  | 'port'
  | 'path'
  | 'query'
  | 'fragment';

/** The registered URI that is closest to one that was sent. */
export interface NearestUri {
  readonly registered: string;
  readonly differences: readonly UriDifference[];
  /** Whether both are spellings of one URI, so that the sender of one knows the other. */
  readonly respelled: boolean;
}
