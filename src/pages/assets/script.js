// What needs a script: showing a typed password, copying a text, local times, printing, counting down, and submitting a form at once. Everything else works without.

/** Switches a button to its other label. */
function toggle(button) {
  const { other, otherLabel } = button.dataset;
  button.dataset.other = button.textContent;
  button.textContent = other;
  if (otherLabel === undefined) return;
  button.dataset.otherLabel = button.getAttribute('aria-label');
  button.setAttribute('aria-label', otherLabel);
}

for (const button of document.querySelectorAll('button[data-reveal]')) {
  const input = document.getElementById(button.dataset.reveal);
  button.hidden = false;
  button.addEventListener('click', () => {
    input.type = input.type === 'password' ? 'text' : 'password';
    toggle(button);
  });
  // The browser would remember a text field and suggest its value.
  input.form.addEventListener('submit', () => {
    input.type = 'password';
  });
}

/** Says what happened to people who do not see it (WCAG 4.1.3). The element is there before the text, or readers would pass over it. */
const said = document.createElement('p');
said.className = 'unseen';
said.setAttribute('aria-live', 'polite');
document.body.append(said);

function offerToCopy(part) {
  for (const button of part.querySelectorAll('button:is([data-copy], [data-copy-of])')) {
    // The clipboard exists in secure contexts only: HTTPS and loopback addresses.
    if (navigator.clipboard === undefined) continue;
    button.hidden = false;
    button.addEventListener('click', async () => {
      const { copy, copyOf } = button.dataset;
      await navigator.clipboard.writeText(copy ?? document.getElementById(copyOf).textContent);
      button.removeAttribute('aria-label');
      button.textContent = button.dataset.other;
      said.textContent = button.dataset.other;
    });
  }
}
offerToCopy(document);
// A part of a page of the console that was replaced.
addEventListener('parts', ({ target }) => offerToCopy(target));

/** Tells times in the zone of the reader; that of the service stays as a hint. */
const { lang } = document.documentElement;
const inZone = new Intl.DateTimeFormat(lang === 'en' ? 'en-GB' : lang, {
  ...{ day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit' },
  timeZoneName: 'short',
});
function tellLocally(part) {
  for (const time of part.querySelectorAll('time:has(> .together)')) {
    const pieces = inZone.formatToParts(new Date(time.dateTime));
    const from = pieces.findIndex(({ type }) => type === 'hour');
    const textOf = (some) => some.map(({ value }) => value).join('');
    const clock = document.createElement('span');
    clock.className = 'together';
    clock.textContent = textOf(pieces.slice(from));
    time.title = time.textContent;
    time.replaceChildren(`${textOf(pieces.slice(0, from - 1))}, `, clock);
  }
}
tellLocally(document);
addEventListener('parts', ({ target }) => tellLocally(target));

for (const button of document.querySelectorAll('button[data-print]')) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}

for (const form of document.querySelectorAll('form[data-wait]')) {
  const line = form.previousElementSibling;
  const end = Date.now() + Number(form.dataset.wait) * 1000;
  const tick = () => {
    const left = Math.ceil((end - Date.now()) / 1000);
    form.hidden = left > 0;
    line.hidden = !form.hidden;
    line.textContent = line.dataset.text.replace('{}', left);
    if (form.hidden) setTimeout(tick, 1000);
  };
  tick();
}

for (const form of document.querySelectorAll('form[data-send]')) form.requestSubmit();
