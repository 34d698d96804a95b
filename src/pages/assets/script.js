// What a page cannot do without script: show a password that was typed, copy a text, and send a form by itself. All else works
// without.

/** The button says and does the other thing next. */
function turn(button) {
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
    turn(button);
  });
  // Sent as a text, it would be offered again by the browser as one.
  input.form.addEventListener('submit', () => {
    input.type = 'password';
  });
}

for (const button of document.querySelectorAll('button[data-copy]')) {
  // The clipboard is there on https and on loopback addresses alone.
  if (navigator.clipboard === undefined) continue;
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.removeAttribute('aria-label');
    button.textContent = button.dataset.other;
  });
}

for (const form of document.querySelectorAll('form[data-send]')) form.requestSubmit();
