// An MCP client that no operator has registered: it identifies itself by the URL of its metadata document.
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const { MCP_URL, CLIENT_METADATA_URL } = process.env;

const callback = createServer();
await new Promise((resolve) => callback.listen(0, '127.0.0.1', resolve));
const redirectUrl = `http://127.0.0.1:${callback.address().port}/callback`;

const kept = {};
/** Where the SDK keeps what it gets, and how it sends a person to the authorization server. */
const provider = {
  redirectUrl,
  clientMetadataUrl: CLIENT_METADATA_URL,
  clientMetadata: { client_name: 'Example agent', redirect_uris: ['http://127.0.0.1/callback'] },
  state: () => crypto.randomUUID(),
  clientInformation: () => kept.client,
  saveClientInformation: (client) => {
    kept.client = client;
  },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => {
    kept.tokens = tokens;
  },
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => {
    kept.verifier = verifier;
  },
  invalidateCredentials: (scope) => {
    if (scope === 'tokens' || scope === 'all') delete kept.tokens;
  },
  redirectToAuthorization: (url) => console.log(`Open ${url}`),
};

/** Waits for the person, whose browser comes back with a code. */
const nextCode = () =>
  new Promise((resolve) => {
    callback.once('request', (request, response) => {
      response.end('You can close this page.');
      resolve(new URL(request.url, redirectUrl).searchParams.get('code'));
    });
  });

async function connect() {
  const transport = new StreamableHTTPClientTransport(new URL(MCP_URL), { authProvider: provider });
  const client = new Client({ name: 'example', version: '1.0.0' });
  try {
    await client.connect(transport);
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    await transport.finishAuth(await nextCode());
    return connect();
  }
  return client;
}

const client = await connect();
/** Calls the tool, and tells what came of it. */
async function call() {
  try {
    const { content } = await client.callTool({ name: 'whoami' });
    console.log(content[0].text);
  } catch (error) {
    console.log(error instanceof UnauthorizedError ? 'Unauthorized' : `Failed: ${error.message}`);
  }
}

await call();
console.log('Press Enter to call again.');
createInterface({ input: process.stdin }).on('line', call);
