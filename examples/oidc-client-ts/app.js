// A single-page app: a public client, which has no secret and uses PKCE.
const { ErrorResponse, UserManager } = globalThis.oidc;
const { issuer, clientId } = await (await fetch('/settings.json')).json();

const manager = new UserManager({
  authority: issuer,
  client_id: clientId,
  redirect_uri: `${location.origin}/callback`,
  post_logout_redirect_uri: `${location.origin}/`,
  scope: 'openid profile email',
  // The profile is completed from UserInfo at sign-in.
  loadUserInfo: true,
  // Tokens are kept in this tab's sessionStorage, and refreshed a minute before they expire.
  automaticSilentRenew: true,
});

function show(user) {
  document.querySelector('#sign-in').hidden = user !== null;
  document.querySelector('#sign-out').hidden = user === null;
  document.querySelector('#profile').textContent = user === null ? '' : JSON.stringify(user.profile, null, 2);
}

document.querySelector('#sign-in').onclick = () => manager.signinRedirect();
document.querySelector('#sign-out').onclick = () => manager.signoutRedirect();
manager.events.addUserUnloaded(() => show(null));
// Revoked or banned: delete the tokens. If the issuer is unreachable, they may still be valid.
manager.events.addSilentRenewError((error) => {
  if (error instanceof ErrorResponse) manager.removeUser();
});

if (location.pathname === '/callback') {
  try {
    await manager.signinCallback();
  } catch (error) {
    if (!(error instanceof ErrorResponse)) throw error;
    alert(error.message);
  }
  // The code is used up: a reload must not send it again.
  history.replaceState(null, '', '/');
}
show(await manager.getUser());
