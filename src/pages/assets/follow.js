// Shows how far something is that is being made, and then what came of it, in place and without moving the focus.

const section = document.querySelector('[data-follow]');
const link = section.querySelector('a');
const status = section.querySelector('[role=status]');
/** The time until the next look, in milliseconds. It grows, for what takes long. */
let wait = 2000;

function show(next) {
  const [bar, nextBar] = [section, next].map((part) => part.querySelector('progress'));
  const said = next.querySelector(nextBar === null ? 'h2, p' : '[role=status]')?.textContent ?? '';
  if (status.textContent !== said) status.textContent = said;
  if (nextBar !== null) {
    bar.setAttribute('value', nextBar.getAttribute('value'));
    return later();
  }
  // The line that says it stays for screen readers, and the link for as long as it has the focus.
  status.className = 'unseen';
  for (const part of [...section.children]) {
    if (part !== status && !part.contains(document.activeElement)) part.remove();
  }
  link.addEventListener('blur', () => link.parentElement.remove(), { once: true });
  section.removeAttribute('aria-labelledby');
  section.prepend(...document.adoptNode(next).childNodes);
  section.dispatchEvent(new Event('parts', { bubbles: true }));
}

async function look() {
  const answer = await fetch(link.href, { headers: { accept: 'text/html' } });
  const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const next = page.querySelector('[data-follow]');
  // Without it the person is signed out: the link shows that, when it is pressed.
  if (next !== null) show(next);
}

function later() {
  setTimeout(() => look().catch(later), wait);
  wait = Math.min(wait * 1.5, 30_000);
}
later();
