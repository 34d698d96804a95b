import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TOKEN_KINDS, tokenKey } from './token-key.ts';

for (const kind of TOKEN_KINDS) {
  test(`${kind}: a token that was verified before says nothing for another one`, () => {
    const key = tokenKey(Buffer.alloc(32, 1), 'k', kind);
    const other = tokenKey(Buffer.alloc(32, 2), 'k', kind);
    const token = key.sign({ sub: '1' });
    assert.equal(key.verify(token)?.['sub'], '1');
    assert.equal(key.verify(token)?.['sub'], '1', 'the same a second time');
    for (let at = 0; at < token.length; at++) {
      for (const letter of ['A', 'B', '.', '=', ' ', 'ł']) {
        const changed = token.slice(0, at) + letter + token.slice(at + 1);
        if (changed !== token) assert.equal(key.verify(changed), undefined, changed);
      }
    }
    for (const changed of [`${token}A`, `A${token}`, `${token}=`, `${token}\n`, ` ${token}`, `${token}.`]) {
      assert.equal(key.verify(changed), undefined, changed);
    }
    assert.equal(other.verify(token), undefined, 'another key has not verified it');
    assert.equal(other.verify(token), undefined, 'nor has it the second time');
  });
}

for (const kind of TOKEN_KINDS) {
  test(`JW-02: ${kind}: with any one bit changed, cut at any length or without a signature it is no token`, () => {
    const key = tokenKey(Buffer.alloc(32, 1), 'k', kind);
    const token = key.sign({ sub: '1', jti: 'x', family: '2' });
    const octets = Buffer.from(token, 'latin1');
    for (let at = 0; at < octets.length; at++) {
      for (let bit = 0; bit < 8; bit++) {
        const changed = Buffer.from(octets);
        changed.writeUInt8((changed[at] ?? 0) ^ (1 << bit), at);
        assert.equal(key.verify(changed.toString('latin1')), undefined, `bit ${bit} of character ${at}`);
      }
      assert.equal(key.verify(token.slice(0, at)), undefined, `the first ${at} characters`);
      assert.equal(key.verify(token.slice(at + 1)), undefined, `without the first ${at + 1} characters`);
    }
    assert.equal(key.verify(token)?.['sub'], '1');
  });
}
