// Searches the text of all pages, which assets/search-index.js holds. Without this script, search.html lists every page.
(() => {
  const LONGEST_LIST = 40;
  const EXCERPT = 180;
  const field = document.querySelector('.find input');
  const results = document.getElementById('results');
  const contents = document.getElementById('index');

  const WORD = /[\p{L}\p{N}]+(?:[_-][\p{L}\p{N}]+)*/gu;

  /** A name such as `TESSERA_DATABASE_URL` or `If-Match` is found whole, from any of its parts on, and by each part. */
  const tokens = (text) =>
    [...text.matchAll(WORD)].flatMap(([word]) => {
      const parts = word.split(/[_-]/);
      return parts.flatMap((part, at) =>
        at < parts.length - 1 ? [word.slice(word.length - parts.slice(at).join('_').length), part] : part,
      );
    });

  /** Words without the endings of plain English words, so that "revoking" finds "revoked". */
  const stem = (word) => {
    const small = word.toLowerCase();
    return /^[a-z]{5,}$/.test(small) ? small.replace(/(?:ing|ed|es|s|e)$/, '') : small;
  };

  /** Words that say nothing about what is looked for. */
  const EMPTY = new Set(
    'a an and are can do does for how i in is it my of on or the to what when where why with'.split(' '),
  );
  const asked = (text) => {
    const words = text.match(WORD) ?? [];
    const telling = words.filter((word) => !EMPTY.has(word.toLowerCase()));
    return telling.length === 0 ? words : telling;
  };

  const index = new globalThis.MiniSearch({
    idField: 'url',
    fields: ['page', 'heading', 'text'],
    storeFields: ['page', 'heading', 'text'],
    tokenize: tokens,
    processTerm: stem,
  });
  const weights = new Map();
  for (const { url: path, page, weight, parts } of globalThis.searchIndex) {
    for (const [anchor, heading, text] of parts) {
      const url = anchor === '' ? path : `${path}#${anchor}`;
      weights.set(url, weight);
      index.add({ url, page, heading, text });
    }
  }

  /** The parts of pages that have words of the query; the best first. */
  function search(query) {
    const options = {
      tokenize: asked,
      boost: { heading: 4, page: 3 },
      boostDocument: (url) => weights.get(url),
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    };
    const found = index.search(query, options);
    return found.length > 0 ? found : index.search(query, { ...options, tokenize: tokens });
  }

  const element = (name, ...children) => {
    const made = document.createElement(name);
    made.append(...children);
    return made;
  };

  /** The text around the first word that was found, with the words marked. */
  function excerpt({ text, terms }) {
    const inText = text.toLowerCase();
    const places = terms.map((word) => inText.indexOf(word)).filter((place) => place >= 0);
    const first = places.length === 0 ? 0 : Math.min(...places);
    const from = first < EXCERPT / 2 ? 0 : text.indexOf(' ', first - EXCERPT / 2) + 1;
    const to = Math.min(text.length, from + EXCERPT);
    const shown = element('p', from > 0 ? '… ' : '');
    let at = from;
    while (at < to) {
      const next = terms
        .map((word) => ({ word, place: inText.indexOf(word, at) }))
        .filter(({ place }) => place >= 0 && place < to)
        .toSorted((a, b) => a.place - b.place || b.word.length - a.word.length)[0];
      if (next === undefined) break;
      const end = next.place + next.word.length;
      shown.append(text.slice(at, next.place), element('mark', text.slice(next.place, end)));
      at = end;
    }
    shown.append(text.slice(at, Math.max(at, to)), to < text.length ? ' …' : '');
    return shown;
  }

  function show() {
    const query = field.value.trim();
    contents.hidden = query !== '';
    results.replaceChildren();
    if (query === '') return;
    const found = search(query);
    const count = found.length === 0 ? 'Nothing found. Try other words, or fewer.' : `${found.length} found`;
    const list = element('ol');
    for (const entry of found.slice(0, LONGEST_LIST)) {
      const link = element('a', entry.heading === '' ? entry.page : `${entry.page}: ${entry.heading}`);
      link.href = entry.id;
      list.append(element('li', link, excerpt(entry)));
    }
    results.append(element('p', count), list);
  }

  field.value = new URLSearchParams(location.search).get('q') ?? '';
  field.addEventListener('input', () => {
    history.replaceState(null, '', `?${new URLSearchParams({ q: field.value })}`);
    show();
  });
  field.form.addEventListener('submit', (event) => {
    event.preventDefault();
    results.querySelector('a')?.focus();
  });
  show();
  if (field.value === '') field.focus();
})();
