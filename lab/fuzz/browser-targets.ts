import assert from 'node:assert/strict';
import { parseRecoveryCode, parseTotpCode, RECOVERY_CODE_ALPHABET } from '../../src/authenticators/rules/codes.ts';
import {
  type ChallengeUse,
  createPasskeyChallenge,
  judgePasskeyChallenge,
} from '../../src/authenticators/rules/passkey-challenge.ts';
import { parsePasskeyName } from '../../src/authenticators/rules/passkey-name.ts';
import { FORM_TOKEN, partsOf } from '../../src/platform/http/form-tokens.ts';
import { formParameters } from '../../src/platform/http/parameters.ts';
import { readTraceParent, writeTraceParent } from '../../src/platform/telemetry/rules/traceparent.ts';
import { canonicalAddress, deviceOf, networkMatcher } from '../../src/platform/validation/origin.ts';
import { describeHint } from '../../src/protocol/logout/rules/hint-form.ts';
import { decodeToken } from '../../src/web/playground/rules/decode-token.ts';
import { jwt, type Target } from './target.ts';

// What a browser sends besides the parameters of requests: typed codes, hidden fields, cookies and headers.

const NOW = Date.parse('2026-03-01T12:00:00Z');
const KEY = Buffer.alloc(32, 7);
const USE: ChallengeUse = { purpose: 'sign in', browserHash: 'b', subject: '' };
const CHALLENGE = createPasskeyChallenge(KEY, USE, 'n'.repeat(22), NOW);
const isTrusted = networkMatcher(['10.0.0.0/8', '2001:db8::/32']);

export const browserTargets: Readonly<Record<string, Target>> = {
  'typed codes and names': {
    seeds: ['123 456', '12345-6', 'abcd-efgh-jkmn', 'my laptop', 'ada@example.com'],
    words: ['\u200b', '\u2013', '\uff11', 'O', 'l', '\u0000', '\n', 'z', '9', '\u{1f600}'],
    run(input) {
      const code = parseTotpCode(input);
      if (code !== undefined) assert.match(code, /^[0-9]{6}$/);
      const recovery = parseRecoveryCode(input);
      if (recovery !== undefined) {
        assert.equal(recovery.length, 12);
        assert.ok([...recovery].every((letter) => RECOVERY_CODE_ALPHABET.includes(letter)));
      }
      const name = parsePasskeyName(input);
      if (name !== undefined) assert.doesNotMatch(name, /[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
    },
  },
  'passkey challenge': {
    seeds: [CHALLENGE, createPasskeyChallenge(KEY, { ...USE, purpose: 'proof' }, 'm'.repeat(22), NOW)],
    words: ['=', '.', 'AAAA', '+', '/', '-', '_'],
    run(input) {
      const read = Buffer.from(input, 'base64url').toString('latin1');
      const judged = judgePasskeyChallenge(KEY, USE, input, NOW);
      if (judged !== 'foreign') assert.equal(read, Buffer.from(CHALLENGE, 'base64url').toString('latin1'));
    },
  },
  'form token and ID token hint': {
    seeds: [`mac.${'s'.repeat(16)}`, `.${'s'.repeat(16)}.12`, jwt({ alg: 'RS256' }, { sub: '1' }), 'undefined'],
    words: ['.', '-', '_', '=', 'e30', 'eyJhbGciOiJub25lIn0', '\u0000'],
    run(input) {
      const sent = input.toWellFormed();
      const form = new URLSearchParams({ [FORM_TOKEN]: sent });
      const { mac, shownTo } = partsOf(formParameters(form.toString()));
      assert.equal(shownTo === '' ? mac : `${mac}.${shownTo}`, sent);
      assert.ok((describeHint(input) ?? '').length < 200);
      const token = decodeToken(input);
      if (token !== undefined) assert.equal(token.parts.length, 3);
    },
  },
  'headers of a browser': {
    seeds: [
      'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1',
      '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      '::ffff:10.0.0.1',
    ],
    words: ['Chrome/', 'Version/', '(', ')', ';', '/', '00-', '-01', 'Edg/', 'x'.repeat(200), '::', '10.0.0.1'],
    run(input) {
      const { browser, system, network } = deviceOf(input, canonicalAddress(input) ?? null);
      for (const name of [browser, system]) assert.ok(name === null || /^[\w .+-]{1,40}$/.test(name), String(name));
      assert.ok(network === null || network.length < 40);
      const parent = readTraceParent(input);
      if (parent !== undefined) assert.deepEqual(readTraceParent(writeTraceParent(parent)), parent);
      const address = canonicalAddress(input);
      if (address !== undefined) isTrusted(address);
    },
  },
};
