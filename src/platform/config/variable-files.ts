import { readFileSync } from 'node:fs';
import { type Reading, Variable } from './variable.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads a small text file; the value is its content without the line end that editors add. */
function readText(path: string): Reading<string> {
  try {
    return { value: readFileSync(path, 'utf8').trim() };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { problem: `must name a file that this user can read (${why})` };
  }
}

const fileOf = (name: string): Variable<string> =>
  new Variable(`${name}_FILE`, readText, {
    initial: 'none',
    about: `A file that contains the value of \`${name}\`, for secrets that are mounted as files.`,
  });

/** The variables of files in which container platforms hand over secrets. `TESSERA_SECRET_FILE` has rules of its own. */
export const fileVariables = {
  databaseUrlFile: fileOf('TESSERA_DATABASE_URL'),
  previousSecretFile: fileOf('TESSERA_SECRET_PREVIOUS'),
  adminKeyFile: fileOf('TESSERA_ADMIN_KEY'),
  smtpUrlFile: fileOf('TESSERA_SMTP_URL'),
  otlpHeadersFile: fileOf('OTEL_EXPORTER_OTLP_HEADERS'),
} as const;

/** What container platforms hand over often ends with a line end. White space around a value is no part of it, as in a file. */
const TRIMMED = ['TESSERA_SECRET', ...Object.values(fileVariables).map(({ name }) => name.replace(/_FILE$/, ''))];

/** Whether the value of a setting is shown to nobody. */
export const isSecretSetting = (name: string): boolean => name === 'TESSERA_MAILBOX_KEY' || TRIMMED.includes(name);

/** The environment, with the content of each named file as the value of its variable. */
export function withFiles(environment: Environment, problems: string[]): Environment {
  const read: Record<string, string> = {};
  for (const name of TRIMMED) {
    const value = environment[name];
    if (value !== undefined) read[name] = value.trim();
  }
  for (const variable of Object.values(fileVariables)) {
    const value = variable.read(environment, problems);
    if (value === undefined) continue;
    const name = variable.name.replace(/_FILE$/, '');
    if (environment[name]) problems.push(`${name} and ${variable.name} are both set. Remove one of them.`);
    else if (value === '') problems.push(`${variable.name} names an empty file. Write the value into it.`);
    else read[name] = value;
  }
  return { ...environment, ...read };
}
