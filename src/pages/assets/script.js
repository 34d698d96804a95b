// The one thing that a page cannot do without script: show a password that was typed.
for (const button of document.querySelectorAll('button[data-reveal]')) {
  const input = document.getElementById(button.dataset.reveal);
  button.hidden = false;
  button.addEventListener('click', () => {
    const reveal = input.type === 'password';
    input.type = reveal ? 'text' : 'password';
    button.textContent = reveal ? button.dataset.hide : button.dataset.show;
    button.setAttribute('aria-pressed', String(reveal));
    input.focus();
  });
}

for (const button of document.querySelectorAll('button[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = button.dataset.copied;
  });
}

// A summary of errors takes the focus, so that it is read out and the keyboard starts there.
document.querySelector('[data-takes-focus]')?.focus();
