import { nearestName } from '../nearest-text.ts';
/** The result of parsing a setting: its value, or a problem, phrased to follow the variable's name. */
export type Reading<T> = { readonly value: T } | { readonly problem: string };

/** An environment variable: its name, its parser, and its description on the reference page. */
export class Variable<T> {
  readonly name: string;
  readonly about: string;
  /** The default, in Markdown. */
  readonly initial: string;
  readonly #parse: (value: string) => Reading<T>;

  constructor(name: string, parse: (value: string) => Reading<T>, page: { initial: string; about: string }) {
    this.name = name;
    this.about = page.about;
    this.initial = page.initial;
    this.#parse = parse;
  }

  /** The value, or undefined if the variable is not set. An invalid value adds to `problems`. */
  read(environment: Readonly<Record<string, string | undefined>>, problems: string[]): T | undefined {
    const value = environment[this.name];
    if (value === undefined || value === '') return undefined;
    const reading = this.#parse(value);
    if ('value' in reading) return reading.value;
    problems.push(`${this.name} ${reading.problem}.`);
    return undefined;
  }
}

/** The names that look like settings and are none, as misspelled ones do. */
export function unknownSettings(
  environment: Readonly<Record<string, string | undefined>>,
  known: ReadonlySet<string>,
): readonly string[] {
  const unknown = Object.keys(environment).filter((name) => name.startsWith('TESSERA_') && !known.has(name));
  return unknown.map((name) => {
    const meant = beginningWith(name, known) ?? nearestName(name, [...known]);
    const advice = meant === undefined ? 'Remove it, or correct its spelling.' : `Did you mean ${meant}?`;
    return `${name} is not a setting of Tessera. ${advice}`;
  });
}

/** The setting whose first words a name has, where few do; the shortest of them. */
function beginningWith(name: string, known: ReadonlySet<string>): string | undefined {
  const longer = [...known].filter((other) => other.startsWith(`${name}_`)).sort((a, b) => a.length - b.length);
  return longer.length <= MOST_LIKELY ? longer[0] : undefined;
}

/** Of more, none is likely to be the one that was meant. */
const MOST_LIKELY = 4;

/** What other software calls some of the settings. */
const WITHOUT_PREFIX = ['DATABASE_URL', 'BASE_URL', 'SMTP_URL', 'PORT'] as const;

/** What to tell an operator whose environment has a setting without the prefix that Tessera reads it with. */
export function unreadSettings(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  const isRead = (name: string) => environment[`TESSERA_${name}`] || environment[`TESSERA_${name}_FILE`];
  const inLowerCase = Object.keys(environment).filter(
    (name) => /^tessera_/i.test(name) && !name.startsWith('TESSERA_'),
  );
  const withoutPrefix = WITHOUT_PREFIX.filter((name) => environment[name] && !isRead(name)).map(
    (name) => `${name} is set, and Tessera does not read it. If it is meant for Tessera, call it TESSERA_${name}.`,
  );
  return [
    ...withoutPrefix,
    ...inLowerCase.map(
      (name) =>
        `${name} is set, and Tessera does not read it: the names of settings are in capitals. Call it ${name.toUpperCase()}.`,
    ),
    ...['OTEL_EXPORTER_OTLP_ENDPOINT']
      .filter((name) => /:4317\/?$/.test(environment[name] ?? ''))
      .map(
        (name) =>
          `${name} has the port 4317, where collectors speak gRPC. Tessera sends OTLP over HTTP, for which the port is usually 4318.`,
      ),
  ];
}
