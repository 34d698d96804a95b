import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolder } from '../platform/disk.ts';

/** A sign-in to a server elsewhere. */
interface SignIn {
  readonly token: string;
  /** In ISO 8601. */
  readonly endsAt: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Where sign-ins are kept, by the base URL of the server. Only the person may read it. */
const fileOf = ({ XDG_CONFIG_HOME, HOME }: Environment): string =>
  join(XDG_CONFIG_HOME || join(HOME || homedir(), '.config'), 'tessera', 'sign-ins.json');

function readAll(environment: Environment): Readonly<Record<string, SignIn>> {
  try {
    const read: unknown = JSON.parse(readFileSync(fileOf(environment), 'utf8'));
    return typeof read === 'object' && read !== null ? (read as Readonly<Record<string, SignIn>>) : {};
  } catch {
    // There is none, or it is no such file: signing in writes another.
    return {};
  }
}

function writeAll(environment: Environment, signIns: Readonly<Record<string, SignIn>>): void {
  const file = fileOf(environment);
  makeFolder(dirname(file));
  const staged = `${file}.${process.pid}`;
  writeFileSync(staged, `${JSON.stringify(signIns, null, 2)}\n`, { mode: 0o600 });
  chmodSync(staged, 0o600);
  renameSync(staged, file);
}

/** The sign-in to a server, also one that has ended. */
export const findSignIn = (environment: Environment, server: string): SignIn | undefined =>
  readAll(environment)[server];

export function saveSignIn(environment: Environment, server: string, signIn: SignIn): void {
  writeAll(environment, { ...readAll(environment), [server]: signIn });
}

/** Forgets the sign-in to a server. @returns what it was */
export function removeSignIn(environment: Environment, server: string): SignIn | undefined {
  const { [server]: removed, ...others } = readAll(environment);
  if (removed !== undefined) writeAll(environment, others);
  return removed;
}
