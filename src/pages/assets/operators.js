// Makes the console quick: a link or a form fetches the same page that the browser would load, and its parts take the place of those that
// are shown. Whatever is unusual is left to the browser: another layout, another place, no answer.

const home = new URL(document.querySelector('.brand').href).pathname;
const inConsole = ({ origin, pathname }) =>
  origin === location.origin && (pathname === home || pathname.startsWith(`${home}/`));

/** The parts of a page that are replaced. Those that are the same stay, with the focus in them. */
const PARTS = ['.masthead', '.side', '.stack'];

/** What tells that there is something new on the page, and whether it was told and is not shown yet. */
let stream;
let isStale = false;
/** The request that is under way. */
let current;
/** A form that was sent acts once. */
let isActing = false;

function put(page) {
  stream?.close();
  stream = undefined;
  document.querySelector('.palette')?.close();
  for (const name of PARTS) {
    const [shown, next] = [document.querySelector(name), page.querySelector(name)];
    if (name !== '.stack' && shown.outerHTML === next.outerHTML) continue;
    const part = document.adoptNode(next);
    shown.replaceWith(part);
    part.dispatchEvent(new Event('parts', { bubbles: true }));
  }
  document.title = page.title;
}

/** The focus goes where the page asks for it, stays in the field of a search, or is at the title. */
function focus(id) {
  const stack = document.querySelector('.stack');
  const field = id === '' ? null : document.getElementById(id);
  const target = stack.querySelector('[autofocus]') ?? field ?? stack.querySelector('h1');
  if (target.tagName === 'H1') target.tabIndex = -1;
  target.focus({ preventScroll: true });
  if (target === field) target.setSelectionRange?.(field.value.length, field.value.length);
}

/**
 * Shows a page.
 * @param options.keeps the id of the field that keeps the focus
 * @param options.top where the page is scrolled to
 */
async function show(url, { init = {}, pushes = true, keeps = '', top = 0 } = {}) {
  current?.abort();
  const request = new AbortController();
  current = request;
  document.querySelector('.stack').setAttribute('aria-busy', 'true');
  const answer = await fetch(url, {
    ...init,
    signal: request.signal,
    headers: { ...init.headers, accept: 'text/html' },
  });
  const text = await answer.text();
  if (request.signal.aborted) return;
  const page = new DOMParser().parseFromString(text, 'text/html');
  const to = new URL(answer.url);
  if (!inConsole(to) || page.body.className !== document.body.className) {
    // What a form was answered with has no address of its own: the page of the form says what came of it.
    return pushes || answer.redirected ? location.assign(to) : location.reload();
  }
  if (pushes || answer.redirected) {
    history.replaceState({ top: scrollY }, '');
    history.pushState({ top: 0 }, '', to);
  }
  put(page);
  shownAddress = here();
  scrollTo({ top, behavior: 'instant' });
  focus(keeps);
}

/** The address of the page that is shown, without the part of it that a link within the page leads to. */
const here = () => location.pathname + location.search;
let shownAddress = here();

const isOld = (error) => error instanceof DOMException && error.name === 'AbortError';

/** What the browser would have shown by itself. */
const leaveTo = (url) => (error) => {
  if (!isOld(error)) location.assign(url);
};

addEventListener('click', (event) => {
  if (event.defaultPrevented || event.button !== 0) return;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = event.target.closest?.('a[href]');
  if (link === null || link === undefined || link.target !== '' || link.hasAttribute('download')) return;
  const url = new URL(link.href);
  const isHere = url.hash !== '' && url.pathname === location.pathname && url.search === location.search;
  if (!inConsole(url) || isHere) return;
  event.preventDefault();
  const opens = link.dataset.palette === undefined ? show(url) : openPalette(link);
  opens.catch(leaveTo(url));
});

/** The search over everything, above the page that is shown. */
async function openPalette(link) {
  const shown = document.querySelector('#search input');
  if (shown !== null) return shown.focus();
  const page = await pageAt(link.href);
  const search = page.getElementById('search');
  if (search === null) return location.assign(link.href);
  const palette = document.createElement('dialog');
  palette.className = 'palette';
  palette.ariaLabel = link.firstChild.data;
  palette.append(document.adoptNode(search));
  palette.addEventListener('close', () => palette.remove());
  document.body.append(palette);
  palette.showModal();
}

let seeking;
let waiting;
/** Shows what is found by what is typed in the palette. */
async function seek(form) {
  clearTimeout(waiting);
  seeking?.abort();
  seeking = new AbortController();
  const page = await pageAt(`${form.action}?${new URLSearchParams(new FormData(form))}`, seeking.signal);
  for (const id of ['count', 'hits']) {
    document.getElementById(id).replaceChildren(...document.adoptNode(page.getElementById(id)).childNodes);
  }
}

addEventListener('input', ({ target }) => {
  if (target.closest('.palette') === null) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => seek(target.form).catch(() => undefined), 120);
});

addEventListener('keydown', (event) => {
  const { key, target } = event;
  if (key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
    const link = document.querySelector('[data-palette]');
    event.preventDefault();
    openPalette(link).catch(leaveTo(link.href));
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[key];
  const palette = target.closest?.('.palette');
  if (step === undefined || !palette) return;
  const stops = [...palette.querySelectorAll('input, #hits a')];
  event.preventDefault();
  stops.at((stops.indexOf(target) + step) % stops.length).focus();
});

addEventListener('submit', (event) => {
  const { target: form, submitter } = event;
  if (form.closest('.palette') !== null) {
    event.preventDefault();
    seek(form)
      .then(() => document.querySelector('#hits a')?.click())
      .catch(() => undefined);
    return;
  }
  const url = new URL(form.action);
  // A file is the browser's to save.
  if (event.defaultPrevented || !inConsole(url) || form.dataset.file !== undefined) return;
  event.preventDefault();
  const fields = new URLSearchParams(new FormData(form, submitter));
  if (form.method === 'get') {
    // A field that is empty asks for nothing.
    for (const [name, value] of [...fields]) if (value === '') fields.delete(name);
    url.search = fields;
    show(url, { keeps: document.activeElement?.id ?? '' }).catch(leaveTo(url));
    return;
  }
  if (isActing) return;
  isActing = true;
  // The address stays that of the page with the form: to load it again asks again, and does not act again.
  show(url, { init: { method: 'POST', body: fields }, pushes: false })
    .catch((error) => {
      // Nobody knows whether it was done. The page of the form says what holds now.
      if (!isOld(error)) location.reload();
    })
    .finally(() => {
      isActing = false;
    });
});

/** A page of the console, as the server sends it. */
async function pageAt(url, signal) {
  const answer = await fetch(url, { signal, headers: { accept: 'text/html' } });
  return new DOMParser().parseFromString(await answer.text(), 'text/html');
}

/** A part that goes on by itself is fetched until it has ended; then the whole page is. */
async function follow() {
  const part = document.querySelector('[data-live]');
  if (part === null || document.hidden || isActing) return;
  const page = await pageAt(part.dataset.live);
  if (!part.isConnected || isActing) return;
  const next = page.getElementById(part.id);
  if (next?.dataset.live === undefined) {
    await show(part.dataset.live, { pushes: false, top: scrollY });
    return;
  }
  const bar = (from) => from.querySelector('progress');
  bar(part).value = bar(next).value;
  const facts = (from) => from.querySelector('.facts');
  facts(part).replaceWith(document.adoptNode(facts(next)));
}
/** A list that is watched is fetched again when there is something new, but not while somebody reads in it. */
async function renew(part) {
  if (!isStale || part.matches(':focus-within') || part.querySelector('[open]') !== null) return;
  isStale = false;
  const next = (await pageAt(location.href)).getElementById(part.id);
  if (part.isConnected && next !== null) part.replaceWith(document.adoptNode(next));
}

/** Where the stream does not come back, the page says why; if it says nothing, it stays as it is. */
async function stopWatching(part) {
  const page = await pageAt(location.href);
  if (page.querySelector('[data-stream]') === null) return show(location.href, { pushes: false, top: scrollY });
  part.removeAttribute('data-stream');
}

function watch() {
  const part = document.querySelector('[data-stream]');
  if (part === null || document.hidden) {
    stream?.close();
    stream = undefined;
    return;
  }
  renew(part).catch(() => undefined);
  if (stream !== undefined) return;
  stream = new EventSource(part.dataset.stream);
  stream.onmessage = () => {
    isStale = true;
    watch();
  };
  stream.onerror = ({ target }) => {
    if (target.readyState === EventSource.CLOSED) {
      stopWatching(document.querySelector('[data-stream]')).catch(leaveTo(location.href));
    }
  };
}
setInterval(() => {
  follow().catch(() => undefined);
  watch();
}, 1500);
watch();

history.scrollRestoration = 'manual';
addEventListener('popstate', ({ state }) => {
  // A link to a field of this page: what was typed stays.
  if (here() === shownAddress) return;
  show(location.href, { pushes: false, top: state?.top ?? 0 }).catch(leaveTo(location.href));
});
