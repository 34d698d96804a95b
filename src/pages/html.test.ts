// store: none
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Html, html } from './html.ts';

test('text is escaped in content and in attributes', () => {
  const hostile = `"><script>alert('1')</script>&`;
  assert.equal(
    html`<p title="${hostile}">${hostile}</p>`.text,
    '<p title="&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;">&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;</p>',
  );
});

test('HTML is not escaped again, lists are joined, nothing leaves nothing', () => {
  const item = (text: string) => html`<li>${text}</li>`;
  assert.equal(
    html`<ul>${['a', '<b>'].map(item)}</ul>${undefined}${null}${false}`.text,
    '<ul><li>a</li><li>&lt;b&gt;</li></ul>',
  );
  assert.ok(html`x` instanceof Html);
});
