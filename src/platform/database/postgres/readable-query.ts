import { type FieldDef, type QueryArrayConfig, type QueryResult, types } from 'pg';
import { isIdColumn } from '../columns.ts';
import type { Row } from '../database.ts';

/** The type of 64-bit integers, which the driver returns as strings. */
const INT8 = 20;

type Parse = (text: string) => unknown;

const unparsed: Parse = (text) => text;

/** Leaves the values of a result as text; {@link readerFor} parses them. */
const AS_TEXT = { getTypeParser: () => unparsed };

/** 64-bit integers stay strings if the column is named as an id, and become numbers otherwise. */
function parserOf({ name, dataTypeID }: FieldDef): Parse {
  if (dataTypeID === INT8) return isIdColumn(name) ? unparsed : Number;
  return types.getTypeParser(dataTypeID, 'text');
}

/** Generates code for the columns of a result: setting properties by computed names would be several times as expensive. */
function readerFor(columns: readonly FieldDef[]): (values: readonly (string | null)[]) => Row {
  const parsers = columns.map(parserOf);
  const members = columns.map(({ name }, index) => {
    const value = `row[${index}]`;
    const parsed = parsers[index] === unparsed ? value : `${value} === null ? null : parsers[${index}](${value})`;
    return `${JSON.stringify(name)}: ${parsed}`;
  });
  return new Function('parsers', `return (row) => ({ ${members.join(', ')} });`)(parsers);
}

/** A statement with a reader of its rows. */
export class ReadableQuery {
  /** Each connection prepares the statement once, under this name; undefined where it is not worth it. */
  readonly name: string | undefined;
  readonly #text: string;
  #columns: readonly FieldDef[] = [];
  #read = readerFor([]);

  constructor(name: string | undefined, text: string) {
    this.name = name;
    this.#text = text;
  }

  with(values: unknown[]): QueryArrayConfig {
    return { name: this.name, text: this.#text, values, rowMode: 'array', types: AS_TEXT };
  }

  /** The rows of an answer. A server that has been replaced or migrated may give a column another type than before. */
  rowsOf({ fields, rows }: QueryResult): Row[] {
    if (rows.length === 0) return [];
    const isKnown = ({ name, dataTypeID }: FieldDef, index: number): boolean => {
      const column = this.#columns[index];
      return column?.name === name && column.dataTypeID === dataTypeID;
    };
    if (fields.length !== this.#columns.length || !fields.every(isKnown)) {
      this.#columns = fields;
      this.#read = readerFor(fields);
    }
    return rows.map(this.#read);
  }
}

/** A list of values as the text of an array: https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
export const listOf = (values: readonly unknown[]): string => `{${values.map(elementOf).join(',')}}`;

function elementOf(value: unknown): string {
  if (value === null) return 'NULL';
  if (typeof value === 'string') return `"${/["\\]/.test(value) ? value.replace(/["\\]/g, '\\$&') : value}"`;
  if (value instanceof Uint8Array) return `"\\\\x${Buffer.from(value).toString('hex')}"`;
  return String(value);
}
