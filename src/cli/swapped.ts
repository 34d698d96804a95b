import { Failure, invalid } from '../platform/failure.ts';

/** An argument that names a record. */
interface RecordArgument {
  /** What it names, with its article: `a group`. */
  readonly what: string;
  readonly text: string;
  /** Finds the ID of the record that a text names. */
  find(text: string): Promise<string>;
}

/**
 * Finds the IDs of two records that are named one after the other.
 * @param usage the command, with its arguments in their order
 * @throws {Failure} `not found`, or `invalid` where the two are exchanged
 */
export async function findInOrder(
  usage: string,
  first: RecordArgument,
  second: RecordArgument,
): Promise<readonly [first: string, second: string]> {
  try {
    return [await first.find(first.text), await second.find(second.text)];
  } catch (error) {
    if (!isMissing(error) || !(await names(second, first.text))) throw error;
    throw invalid(
      `${first.text} is ${second.what}, and ${first.what} comes first. Exchange the two: tessera ${usage}. Nothing was changed.`,
    );
  }
}

/** Whether a text names a record of the kind of an argument. */
async function names({ find }: RecordArgument, text: string): Promise<boolean> {
  try {
    await find(text);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

const isMissing = (error: unknown): boolean => error instanceof Failure && error.kind === 'not found';
