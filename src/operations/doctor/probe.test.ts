// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HOUR } from '../../platform/clock.ts';
import { isProbe, probeKey, sealProbe } from './probe.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const key = probeKey(Buffer.alloc(32, 7));

test('a probe proves for an hour that its sender has the secret, by either clock, and then no longer', () => {
  for (const ahead of [-HOUR, 0, HOUR]) assert.ok(isProbe(key, sealProbe(key, NOW + ahead), NOW), `${ahead}`);
  for (const ahead of [-HOUR - 1, HOUR + 1, -1000 * HOUR]) {
    assert.ok(!isProbe(key, sealProbe(key, NOW + ahead), NOW), `${ahead}`);
  }
});

test('a probe holds for the time that it names, under the key of this service alone', () => {
  const probe = sealProbe(key, NOW);
  const [, proof = ''] = probe.split('.');
  const others = [`${NOW + 1}.${proof}`, `0${probe}`, ` ${probe}`, `${NOW}.`, proof, `${NOW}.${'A'.repeat(43)}`];
  for (const header of others) assert.ok(!isProbe(key, header, NOW), header);
  assert.ok(!isProbe(probeKey(Buffer.alloc(32, 8)), probe, NOW));
});
