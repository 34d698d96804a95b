// Says in words how strong a new password is, while it is typed. The rules are those of accounts/rules/password.ts, save for the
// list of common passwords, which is too large for a page: the server checks that.

const SERVICE_NAME = 'tessera';
const SEQUENCES = [
  ...['abcdefghijklmnopqrstuvwxyz', '01234567890', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'],
  ...['qwertzuiop', 'yxcvbnm', 'azertyuiop', 'qsdfghjklm', 'wxcvbn'],
].flatMap((row) => [row, [...row].reverse().join('')]);
const LOOKALIKES = new Map(Object.entries({ l: 'i', '!': 'i', '|': 'i', '@': 'a', $: 's' }));
for (const [digit, letter] of ['0o', '1i', '3e', '4a', '5s', '7t', '8b']) LOOKALIKES.set(digit, letter);

const plain = (text) => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();

function skeleton(text) {
  const units = text
    .split('')
    .map((unit, position) => [LOOKALIKES.get(unit) ?? (/[\p{L}\p{N}]/u.test(unit) ? unit : ''), position]);
  const kept = units.filter(([letter]) => letter !== '');
  return { letters: kept.map(([letter]) => letter).join(''), positions: kept.map(([, position]) => position) };
}

/** The username, the name, the parts of the email address, and every word of them. */
function namesOf({ username, displayName, email }) {
  const at = email.lastIndexOf('@');
  const domain = email
    .slice(at + 1)
    .split('.')
    .slice(0, -1);
  const whole = [username, displayName, email.slice(0, at), ...domain, SERVICE_NAME];
  const words = whole.flatMap((name) => plain(name).match(/\p{L}+/gu) ?? []);
  return [...whole, ...words].map((name) => skeleton(plain(name)).letters).filter(({ length }) => length >= 3);
}

function withoutNames(password, names) {
  const text = plain(password);
  const { letters, positions } = skeleton(text);
  const removed = new Set();
  for (const form of names.flatMap((name) => [name, [...name].reverse().join('')])) {
    for (let at = letters.indexOf(form); at >= 0; at = letters.indexOf(form, at + 1)) {
      for (let offset = 0; offset < form.length; offset++) removed.add(positions[at + offset]);
    }
  }
  const rest = text.split('').filter((_unit, position) => !removed.has(position));
  return removed.size === 0 ? undefined : rest.join('');
}

function runLength(characters, start) {
  let longest = 1;
  while (start + longest < characters.length && characters[start + longest] === characters[start]) longest++;
  for (const sequence of SEQUENCES) {
    let length = 1;
    const next = () => characters.slice(start, start + length + 1).join('');
    while (start + length < characters.length && sequence.includes(next())) length++;
    longest = Math.max(longest, length);
  }
  return longest;
}

/** How many characters of a password do not follow from the ones before; 0 for a repetition of a short text. */
function unrelated(text) {
  const characters = [...text];
  let period = 1;
  while (characters.some((character, at) => at >= period && character !== characters[at - period])) period++;
  if (period < 8 && period * 2 <= characters.length) return 0;
  let count = 0;
  for (let next = 0; next < characters.length; ) {
    const run = runLength(characters, next);
    count += run >= 3 ? 2 : 1;
    next += run >= 3 ? run : 1;
  }
  return count;
}

/** The strength of a password, as a key of the texts; undefined where nothing is typed. */
export function strengthOf(password, { username = '', displayName = '', email = '' }) {
  if (password === '') return undefined;
  if ([...password].length < 8) return 'short';
  const rest = withoutNames(password, namesOf({ username, displayName, email }));
  if (rest !== undefined && ([...rest].length < 8 || !/\p{L}/u.test(rest) || unrelated(rest) < 5)) return 'name';
  const count = unrelated(password.toLowerCase());
  if (count < 5) return 'simple';
  const hard = rest === undefined ? count : unrelated(rest);
  return hard < 12 ? 'fair' : hard < 16 ? 'good' : 'strong';
}

/** How long a person pauses before the words change, so that a screen reader does not speak at each key. */
const PAUSE = 600;

for (const output of globalThis.document?.querySelectorAll('[data-strength-of]') ?? []) {
  const input = document.getElementById(output.dataset.strengthOf);
  const texts = JSON.parse(output.dataset.texts);
  const known = JSON.parse(output.dataset.names);
  const typed = (name) => input.form.elements.namedItem(name)?.value ?? known[name];
  const update = () => {
    const names = { username: typed('username'), displayName: typed('displayName'), email: typed('email') };
    const text = texts[strengthOf(input.value, names)] ?? '';
    if (output.textContent !== text) output.textContent = text;
  };
  let timer;
  input.form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(update, PAUSE);
  });
}
