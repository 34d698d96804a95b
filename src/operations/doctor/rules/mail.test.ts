// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../../settings/config.ts';
import { judgeMail } from './mail.ts';

const PUBLIC = 'https://id.example.com';
const SMTP = { TESSERA_SMTP_URL: 'smtps://a:b@mail.example.com' };
const FROM = { TESSERA_MAIL_FROM: 'no-reply@example.com' };

const cases: [string, Record<string, string>, number | undefined, string, RegExp][] = [
  [PUBLIC, {}, 0, 'warning', /TESSERA_SMTP_URL is not set/],
  ['http://localhost:3000', {}, 0, 'ok', /mailbox shows it/],
  ['http://localhost:3000', { TESSERA_MAILBOX: 'off' }, 0, 'ok', /Mail is off/],
  [PUBLIC, SMTP, 0, 'warning', /TESSERA_MAIL_FROM is not set.*no-reply@id\.example\.com/],
  [PUBLIC, { ...SMTP, ...FROM }, undefined, 'ok', /through mail\.example\.com:465\. To try it/],
  [PUBLIC, { ...SMTP, TESSERA_MAIL_FROM: 'a@example.org' }, 0, 'ok', /SPF and DKIM of example\.org/],
  [PUBLIC, { ...FROM, TESSERA_SMTP_URL: 'smtp://10.0.0.9?tls=off' }, 0, 'warning', /unencrypted/],
  [PUBLIC, { ...SMTP, ...FROM }, 2, 'warning', /2 messages were given up/],
  ['http://localhost:3000', { TESSERA_SMTP_URL: 'smtp://localhost' }, 1, 'warning', /1 message was given up/],
];

test('mail: off, without encryption, from a surprising sender, given up', () => {
  for (const [baseUrl, settings, dead, level, found] of cases) {
    const findings = judgeMail(readConfig({ TESSERA_BASE_URL: baseUrl, ...settings }), baseUrl, dead);
    assert.deepEqual(
      findings.map((finding) => finding.level),
      [level],
      found.source,
    );
    assert.match(findings[0]?.found ?? '', found);
    assert.equal(findings[0]?.remedy === null, level === 'ok');
  }
});
