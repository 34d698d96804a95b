// A key that leads to the search field of every page. Where this does not run, the field says nothing of it.
(() => {
  const field = document.querySelector('.find input');
  field.placeholder += ' (press /)';
  field.setAttribute('aria-keyshortcuts', '/');
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target.closest('input, textarea, select, [contenteditable]') !== null;
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    field.focus();
  });
})();
