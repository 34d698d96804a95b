// A device that signs its user in with openid-client: RFC 8628.
import { createInterface } from 'node:readline';
import * as oidc from 'openid-client';

const { ISSUER, CLIENT_ID } = process.env;
const config = await oidc.discovery(new URL(ISSUER), CLIENT_ID, undefined, oidc.None(), {
  execute: [oidc.allowInsecureRequests],
});
const asked = await oidc.initiateDeviceAuthorization(config, { scope: 'openid profile offline_access' });
console.log(`Enter ${asked.user_code} at ${asked.verification_uri}`);
const tokens = await oidc.pollDeviceAuthorizationGrant(config, asked);
const user = await oidc.fetchUserInfo(config, tokens.access_token, tokens.claims().sub);
console.log(`You are ${user.sub}.`);
for await (const _ of createInterface({ input: process.stdin })) break;
try {
  await oidc.refreshTokenGrant(config, tokens.refresh_token);
  console.log('Refreshed');
} catch ({ error }) {
  console.log(`Refused: ${error}`);
}
process.exit();
