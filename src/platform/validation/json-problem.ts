/** Where a text stops being JSON (RFC 8259). It names kinds of characters, never the text itself, which may hold secrets. */
export interface JsonProblem {
  readonly line: number;
  readonly column: number;
  readonly expected: string;
  readonly found: string;
  /** How this mistake is usually made, where that is known. */
  readonly remedy: string | undefined;
}

const SPACE = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:e[+-]?\d+)?/iy;
const WORD = /[\p{L}_$][\p{L}\p{N}_$]*/uy;
const LITERALS: ReadonlySet<string> = new Set(['true', 'false', 'null']);
/** What other languages write for a value. Only these words are repeated in an answer. */
const FOREIGN_WORDS: ReadonlySet<string> = new Set(['undefined', 'NaN', 'Infinity', 'None', 'True', 'False', 'nil']);

type Expected = 'value' | 'first item' | 'first name' | 'name' | 'colon' | 'next' | 'end';

/** Finds the first problem in linear time, without recursion; undefined for valid JSON. */
export function findJsonProblem(text: string): JsonProblem | undefined {
  const open: ('{' | '[')[] = [];
  let expected: Expected = 'value';
  let at = 0;

  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  const problem = (found: string, remedy?: string): JsonProblem => {
    const before = text.slice(0, at).split('\n');
    const column = (before.at(-1)?.length ?? 0) + 1;
    return { line: before.length, column, expected: describeExpected(expected, open.at(-1)), found, remedy };
  };
  const afterValue = (): Expected => (open.length === 0 ? 'end' : 'next');

  for (;;) {
    at += match(SPACE)?.length ?? 0;
    const character = text[at];
    if (character === undefined) {
      return expected === 'end' ? undefined : problem(...END);
    }
    const isValue = expected === 'value' || expected === 'first item';
    const isName: boolean = expected === 'name' || expected === 'first name';
    if (character === '"' && (isValue || isName)) {
      at += match(STRING)?.length ?? 0;
      if (text[at] !== '"') return { ...problem(...describeInString(text[at])), expected: 'the rest of a string' };
      at++;
      expected = isName ? 'colon' : afterValue();
    } else if (isValue && (character === '{' || character === '[')) {
      open.push(character);
      expected = character === '{' ? 'first name' : 'first item';
      at++;
    } else if (closes(character, expected, open.at(-1))) {
      open.pop();
      expected = afterValue();
      at++;
    } else if (character === ':' && expected === 'colon') {
      expected = 'value';
      at++;
    } else if (character === ',' && expected === 'next') {
      expected = open.at(-1) === '{' ? 'name' : 'value';
      at++;
    } else {
      const scalar = isValue ? (match(NUMBER) ?? match(WORD)) : undefined;
      const isNumber = scalar !== undefined && /^[-\d]/.test(scalar);
      if (scalar === undefined || !(isNumber || LITERALS.has(scalar))) {
        return problem(...describeFound(text, at, character, match(WORD)));
      }
      at += scalar.length;
      expected = afterValue();
    }
  }
}

function closes(character: string, expected: Expected, innermost: '{' | '[' | undefined): boolean {
  if (character === '}') return innermost === '{' && (expected === 'next' || expected === 'first name');
  return character === ']' && innermost === '[' && (expected === 'next' || expected === 'first item');
}

function describeExpected(expected: Expected, innermost: '{' | '[' | undefined): string {
  switch (expected) {
    case 'value':
    case 'first item':
      return innermost === undefined ? 'an object that begins with {' : 'a value';
    case 'first name':
    case 'name':
      return 'a member name in double quotes';
    case 'colon':
      return 'a colon after the member name';
    case 'next':
      return innermost === '{' ? 'a comma or }' : 'a comma or ]';
    case 'end':
      return 'the end of the body';
  }
}

function describeFound(
  text: string,
  at: number,
  character: string,
  word: string | undefined,
): readonly [found: string, remedy?: string] {
  if (text.startsWith('[object', at - 1)) return ['[object Object]', 'Encode the object with JSON.stringify.'];
  if (character === "'") return ['a single quote', 'JSON has double quotes only.'];
  if (character === '`' || /[\u2018-\u201f]/.test(character))
    return ['a typographic quote', 'JSON has double quotes only.'];
  if (character === '"')
    return ['a double quote', 'A comma or a colon is missing before it, or the body was encoded twice.'];
  if (character === '\\') return ['a backslash', 'Escape quotes only within strings; a shell may have added it.'];
  if (character === '\ufeff') return ['a byte order mark', 'Encode the body as UTF-8 without a byte order mark.'];
  if (character === '/' || character === '#') return ['a slash or number sign', 'JSON has no comments.'];
  if ((character === '}' || character === ']') && /,\s*$/.test(text.slice(Math.max(0, at - 64), at))) {
    return [`${character} after a comma`, 'Remove the comma after the last member.'];
  }
  if ('{}[],:'.includes(character)) return [character];
  if (word !== undefined && FOREIGN_WORDS.has(word))
    return [`the word ${word}`, 'JSON has the words true, false and null.'];
  if (word !== undefined) return ['a word without quotes', 'Put names and strings in double quotes.'];
  if (/\d/.test(character)) return ['a digit'];
  return ['another character'];
}

/** Found at the end of the text. */
const END = ['the end of the body', 'The body is empty or was cut off: compare it with Content-Length.'] as const;

function describeInString(character: string | undefined): readonly [found: string, remedy?: string] {
  if (character === undefined) return END;
  if (character === '\\') return ['an escape that JSON does not have', 'Double the backslash.'];
  return ['a line break or another control character', 'Write it as an escape, such as a backslash and n.'];
}
