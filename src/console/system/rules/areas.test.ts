// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { areaOf, type SettingArea } from './areas.ts';

test('a setting is in the area that its name says', () => {
  const expected: Readonly<Record<string, SettingArea>> = {
    TESSERA_LIMIT_MAIL_RECIPIENT: 'limits',
    TESSERA_SIGN_UP_DOMAINS: 'people',
    TESSERA_SECOND_FACTOR: 'people',
    TESSERA_CLIENT_METADATA_DOMAINS: 'apps',
    TESSERA_SMTP_URL_FILE: 'mail',
    OTEL_SERVICE_NAME: 'records',
    TESSERA_SECRET_FILE: 'access',
    TESSERA_BASE_URL: 'server',
  };
  assert.deepEqual(Object.fromEntries(Object.keys(expected).map((name) => [name, areaOf(name)])), expected);
});
