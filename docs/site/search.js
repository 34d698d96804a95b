// Searches the text of all pages, which assets/search-index.js holds. Without this script, search.html lists every page.
(() => {
  const LONGEST_LIST = 40;
  const EXCERPT = 180;
  const field = document.querySelector('.find input');
  const results = document.getElementById('results');
  const index = document.getElementById('index');

  const entries = globalThis.searchIndex.map((entry) => ({
    ...entry,
    inPage: entry.page.toLowerCase(),
    inHeading: entry.heading.toLowerCase(),
    inText: entry.text.toLowerCase(),
  }));

  /** The words of a query, without the endings of plain English words, so that "revoking" finds "revoked". */
  const wordsOf = (query) =>
    [...new Set(query.toLowerCase().match(/[\p{L}\p{N}_./:@-]+/gu) ?? [])].map((word) =>
      /^[a-z]{5,}$/.test(word) ? word.replace(/(?:ing|ed|es|s|e)$/, '') : word,
    );

  const startsWord = (text, word) => text.startsWith(word) || text.includes(` ${word}`);

  /** How well an entry fits a word; 0 if it does not contain the word. */
  function weight({ inPage, inHeading, inText }, word) {
    if (startsWord(inHeading, word)) return 12;
    if (startsWord(inPage, word)) return inHeading === '' ? 14 : 6;
    const count = inText.split(word).length - 1;
    if (count > 0) return Math.min(count, 4) + (startsWord(inText, word) ? 1 : 0);
    return inHeading.includes(word) || inPage.includes(word) ? 3 : 0;
  }

  /** The entries that contain the most words of the query, the best first. */
  function search(words) {
    const found = entries.flatMap((entry) => {
      const weights = words.map((word) => weight(entry, word)).filter((found) => found > 0);
      const sum = weights.reduce((total, next) => total + next, 0);
      return weights.length === 0 ? [] : [{ entry, words: weights.length, sum }];
    });
    const most = Math.max(...found.map((one) => one.words));
    return found.filter((one) => one.words === most).toSorted((a, b) => b.sum - a.sum);
  }

  const element = (name, ...children) => {
    const made = document.createElement(name);
    made.append(...children);
    return made;
  };

  /** The text around the first word that it contains, with the words marked. */
  function excerpt({ text, inText }, words) {
    const places = words.map((word) => inText.indexOf(word)).filter((place) => place >= 0);
    const first = places.length === 0 ? 0 : Math.min(...places);
    const from = first < EXCERPT / 2 ? 0 : text.indexOf(' ', first - EXCERPT / 2) + 1;
    const to = Math.min(text.length, from + EXCERPT);
    const shown = element('p', from > 0 ? '… ' : '');
    let at = from;
    while (at < to) {
      const next = words
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
    const words = wordsOf(field.value);
    index.hidden = words.length > 0;
    results.replaceChildren();
    if (words.length === 0) return;
    const found = search(words);
    const count = found.length === 0 ? 'Nothing found. Try other words, or fewer.' : `${found.length} found`;
    const list = element('ol');
    for (const { entry } of found.slice(0, LONGEST_LIST)) {
      const link = element('a', entry.heading === '' ? entry.page : `${entry.page}: ${entry.heading}`);
      link.href = entry.url;
      list.append(element('li', link, excerpt(entry, words)));
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
