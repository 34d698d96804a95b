// Passkeys: asking for one in the autofill of a field or by a button, and creating one. A prompt that comes to nothing leads back to the
// form, with a line that says so.

const supported = window.PublicKeyCredential !== undefined;

const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** Asks the server for the options of a prompt, with a new challenge. */
async function optionsFor({ dataset }) {
  const answer = await fetch(dataset.options, { headers: { accept: 'application/json' }, redirect: 'error' });
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  const options = await answer.json();
  const withBytes = (credential) => ({ ...credential, id: toBytes(credential.id) });
  return {
    ...options,
    challenge: toBytes(options.challenge),
    ...(options.user && { user: { ...options.user, id: toBytes(options.user.id) } }),
    ...(options.allowCredentials && { allowCredentials: options.allowCredentials.map(withBytes) }),
    ...(options.excludeCredentials && { excludeCredentials: options.excludeCredentials.map(withBytes) }),
  };
}

/** The JSON of a credential. Not by `toJSON`, which some password managers lack. */
function describe({ rawId, type, response, authenticatorAttachment }) {
  const buffers = ['clientDataJSON', 'authenticatorData', 'signature', 'userHandle', 'attestationObject']
    .filter((name) => response[name] instanceof ArrayBuffer)
    .map((name) => [name, toText(response[name])]);
  const transports = response.getTransports?.();
  return JSON.stringify({
    id: toText(rawId),
    rawId: toText(rawId),
    type,
    authenticatorAttachment,
    clientExtensionResults: {},
    response: { ...Object.fromEntries(buffers), ...(transports && { transports }) },
  });
}

function say(form, text) {
  form.querySelector('[data-line]').textContent = text;
}

/** Sends a form with what the authenticator answered. */
function send(form, credential) {
  form.elements.passkey.value = describe(credential);
  form.submit();
}

/** The prompt that waits in the autofill, if there is one. A browser shows one prompt at a time. */
let waiting = new AbortController();

const seen = () =>
  document.hidden
    ? new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }))
    : null;

/** A challenge is renewed before it expires, as long as the page is seen. */
const RENEWAL = 240_000;

/** Offers passkeys in the autofill. Where there is none, nothing is shown. */
async function offerInAutofill(form) {
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
  const current = new AbortController();
  waiting = current;
  while (!current.signal.aborted) {
    const turn = new AbortController();
    current.signal.addEventListener('abort', () => turn.abort());
    const timer = setTimeout(() => turn.abort(), RENEWAL);
    try {
      const publicKey = await optionsFor(form);
      if (current.signal.aborted) return;
      send(form, await navigator.credentials.get({ publicKey, mediation: 'conditional', signal: turn.signal }));
      return;
    } catch {
      // Anything but the end of a turn ends the offer: nobody asked for it.
      if (!turn.signal.aborted) return;
    } finally {
      clearTimeout(timer);
    }
    await seen();
  }
}

/** Asks for a passkey, or for a new one, because the person pressed the button. */
async function prompt(form) {
  waiting.abort();
  say(form, '');
  const { passkey: kind, cancelled, exists, failed } = form.dataset;
  try {
    const publicKey = await optionsFor(form);
    send(form, await navigator.credentials[kind]({ publicKey }));
  } catch ({ name }) {
    say(form, { NotAllowedError: cancelled, AbortError: cancelled, InvalidStateError: exists }[name] ?? failed);
    if (form.dataset.autofill !== undefined) void offerInAutofill(form);
  }
}

for (const form of document.querySelectorAll('form[data-passkey]')) {
  if (!supported) continue;
  let busy = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    await prompt(form);
    busy = false;
  });
  if (form.dataset.autofill !== undefined) void offerInAutofill(form);
}

if (supported) {
  for (const button of document.querySelectorAll('[data-passkey-button]')) button.hidden = false;
  for (const note of document.querySelectorAll('[data-without-passkeys]')) note.hidden = true;
}

/** Shows the offer of a passkey where this device can keep one. */
async function offerPasskey(offer) {
  offer.hidden = !(await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable());
}

if (supported) document.querySelectorAll('[data-passkey-offer]').forEach(offerPasskey);

/** Tells the passkey manager what the server knows (Web Authentication Level 3 §5.1.10); browsers without that ignore it. */
async function signal(method, facts) {
  try {
    await window.PublicKeyCredential?.[method]?.(facts);
  } catch {
    // A manager that does not listen.
  }
}

for (const { dataset } of document.querySelectorAll('[data-unknown-passkey]')) {
  void signal('signalUnknownCredential', { rpId: dataset.rp, credentialId: dataset.unknownPasskey });
}
for (const { dataset } of document.querySelectorAll('[data-accepted-passkeys]')) {
  const allAcceptedCredentialIds = dataset.acceptedPasskeys.split(' ').filter((id) => id !== '');
  void signal('signalAllAcceptedCredentials', { rpId: dataset.rp, userId: dataset.user, allAcceptedCredentialIds });
}
