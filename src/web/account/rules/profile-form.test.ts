// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newProfile } from '../../../accounts/rules/profile.ts';
import { linkField, platformOf, profileFields, readProfileForm } from './profile-form.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const profile = newProfile({ username: 'ada', displayName: 'Ada', email: 'ada@example.com' }, '1', NOW);
const read = (fields: Readonly<Record<string, string>>) => readProfileForm((name) => fields[name], profile, NOW);

const taken: [field: string, sent: string, stored: string | null][] = [
  ['displayName', '  Ada Lovelace ', 'Ada Lovelace'],
  ['about', 'one\r\ntwo', 'one\ntwo'],
  ['about', '', ''],
  ['language', 'pt-BR', 'pt-BR'],
  ['theme', '', null],
  ['theme', 'dark', 'dark'],
  ['website', '', null],
  ['website', 'https://ada.example', 'https://ada.example'],
  ['location', ' London ', 'London'],
  ['birthDate', '1915-12-10', '1915-12-10'],
  ['birthDate', '2026-02-28', '2026-02-28'],
  ['phone', '+90 555 123 45 67', '+905551234567'],
  ['phone', '+44 (0)20 7946 0018', '+442079460018'],
  ['phone', '', null],
  ['avatarColor', '#0f5e63', '#0f5e63'],
  ['avatarColor', profile.avatarColor, profile.avatarColor],
];
for (const [field, sent, stored] of taken) {
  test(`${field} ${JSON.stringify(sent)} is stored as ${JSON.stringify(stored)}`, () =>
    assert.deepEqual(read({ [field]: sent }), { kind: 'change', change: { [field]: stored } }));
}

const rejected: [field: string, sent: string][] = [
  ['displayName', ''],
  ['displayName', ' '],
  ['displayName', 'a'.repeat(65)],
  ['displayName', 'a\u202eb'],
  ['about', 'a'.repeat(501)],
  ['language', ''],
  ['language', 'english'],
  ['theme', 'blue'],
  ['website', 'http://ada.example'],
  ['website', 'javascript:alert(1)'],
  ['website', 'ada.example'],
  ['location', 'a'.repeat(101)],
  ['birthDate', '2026-03-01'],
  ['birthDate', '10.12.1815'],
  ['birthDate', '2025-02-29'],
  ['phone', '0555 123 45 67'],
  ['phone', '+1'],
  ['phone', 'call me'],
  ['avatarColor', '#ffffff'],
  ['avatarColor', 'red'],
];
for (const [field, sent] of rejected) {
  test(`${field} ${JSON.stringify(sent.slice(0, 20))} is rejected`, () =>
    assert.deepEqual(read({ [field]: sent }), { kind: 'problems', problems: [{ name: field, kind: field }] }));
}

test('a field that was not sent stays as it is', () => assert.deepEqual(read({}), { kind: 'change', change: {} }));

test('links: empty rows are removed, the platform is that of the address, both fields are required', () => {
  const rows = (...links: [string, string][]) =>
    Object.fromEntries(
      links.flatMap(([label, url], n) => [
        [linkField('label', n), label],
        [linkField('url', n), url],
      ]),
    );
  const ada = { platform: 'github', label: 'Code', url: 'https://github.com/ada' };
  assert.deepEqual(read(rows(['', ''], ['Code', ada.url])), { kind: 'change', change: { socialLinks: [ada] } });
  assert.deepEqual(read(rows(['', ''])), { kind: 'change', change: { socialLinks: [] } });
  assert.deepEqual(read(rows(['Code', ''], ['', ada.url])), {
    kind: 'problems',
    problems: [
      { name: 'link-url-0', kind: 'linkUrl' },
      { name: 'link-label-1', kind: 'linkLabel' },
    ],
  });
  const shown = profileFields({ ...profile, socialLinks: [ada] });
  assert.deepEqual([shown.get('link-label-0'), shown.get('link-url-0')], ['Code', ada.url]);
  // A form that is sent back unchanged changes nothing.
  const back = readProfileForm((name) => shown.get(name), { ...profile, socialLinks: [ada] }, NOW);
  const { displayName, about, language, theme, website, location, birthDate, phone, avatarColor } = profile;
  const own = { displayName, about, language, theme, website, location, birthDate, phone, avatarColor };
  assert.deepEqual(back, { kind: 'change', change: { ...own, socialLinks: [ada] } });
});

test('the platform of an address', () => {
  assert.equal(platformOf('https://www.linkedin.com/in/ada'), 'linkedin');
  assert.equal(platformOf('https://mastodon.example/@ada'), 'mastodon');
  assert.equal(platformOf('https://localhost/x'), 'localhost');
  assert.equal(platformOf('no address'), 'website');
});
