import { shellWord } from '../../platform/shell.ts';
import type { Client } from '../store.ts';
import { type Nearest, nearestUri } from './nearest-uri.ts';
import { redirectUriProblem } from './redirect-uri.ts';

/** What a developer is told of a request that cannot be answered where it asks to be. */
export interface Advice {
  /** What is wrong. */
  readonly description: string;
  /** The name of the app, where it is known. */
  readonly app?: string;
  /** What came, where repeating it helps. */
  readonly came?: { readonly name: string; readonly value: string } | undefined;
  /** The closest registered address, where it may be told. */
  readonly nearest?: Nearest | undefined;
  /** In what an address differs from the closest: for the log, also where the caller is not told. */
  readonly differences?: readonly string[];
  /** What to do. */
  readonly remedy: string;
  /** A command that shows or does what the remedy says. */
  readonly command?: string;
}

/** What the rule needs to know of a client. */
export type Registered = Pick<Client, 'id' | 'name' | 'type'>;

interface Asked {
  readonly name: 'redirect_uri' | 'post_logout_redirect_uri';
  readonly sent: string;
  readonly registered: readonly string[];
  /** Whether the service runs on a developer's own machine. */
  readonly local: boolean;
}

/** Nothing longer can be registered. */
const LONGEST_COMPARED = 2048;

/**
 * Who may be told what of the registered addresses, and what to do: docs/decisions/0013. An address that differs only in how
 * it is written is told to everybody, any other only on a loopback base URL.
 */
export function explainUnregistered({ id, name: app, type }: Registered, asked: Asked): Advice {
  const { name, sent, registered, local } = asked;
  const closest = sent.length > LONGEST_COMPARED ? undefined : nearestUri(sent, registered);
  const nearest = closest !== undefined && (closest.respelled || local) ? closest : undefined;
  const problem = redirectUriProblem(sent, type);
  const option = name === 'redirect_uri' ? '--add-redirect-uri' : '--add-post-logout-redirect-uri';
  const common = {
    description:
      `${name} is not one of those that are registered for this app. It must equal a registered one character for character: ` +
      'scheme, host, port, path, letter case and a slash at the end included.',
    app,
    came: { name, value: sent },
    nearest,
    differences: closest?.differences ?? [],
  };
  const send = nearest === undefined ? 'Send one that is registered' : 'Send the registered one';
  if (problem !== undefined) {
    const remedy = `${send}; this one could not be registered: it must ${problem}. This shows which are:`;
    return { ...common, remedy, command: `npx tessera client show ${id}` };
  }
  // An address that anybody may have put into a link is not offered for registration where strangers can reach the service.
  return local
    ? {
        ...common,
        remedy: `${send}, or register this one too:`,
        command: `npx tessera client update ${id} ${option} ${shellWord(sent)}`,
      }
    : {
        ...common,
        remedy: `${send}; or, if this one is the app’s own, register it with: npx tessera client update ${id} ${option}. This shows which are registered:`,
        command: `npx tessera client show ${id}`,
      };
}

/** The same in one line, for a caller that reads JSON. */
export function adviceLine({ description, nearest, remedy, command }: Advice): string {
  const told =
    nearest && `The closest registered one, ${nearest.registered}, differs in: ${nearest.differences.join(', ')}.`;
  return [description, told, remedy, command].filter((text) => text !== undefined).join(' ');
}
