// An MCP server whose tools only people with access may call. Registered as an API: see docs/how-to/protect-an-mcp-server.md.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { createResourceServer, expressMetadata, expressProtect } from '@tessera-id/resource-server';
import express from 'express';

const { ISSUER, CLIENT_ID, CLIENT_SECRET, PORT } = process.env;

const api = createResourceServer({
  issuer: ISSUER,
  resource: `http://localhost:${PORT}/mcp`,
  clientId: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  scopes: ['openid', 'profile'],
  resourceName: 'Example tools',
  onFailure: (error) => console.error(error.message),
});

/** A server for one request, so that nothing of one caller is left for another. */
function toolsFor(caller) {
  const server = new McpServer({ name: 'example', version: '1.0.0' });
  server.registerTool('whoami', { description: 'Tells who calls' }, () => ({
    content: [{ type: 'text', text: `You are ${caller.sub}.` }],
  }));
  return server;
}

const app = express();
app.use(expressMetadata(api));
app.post('/mcp', expressProtect(api, { scopes: ['openid'] }), express.json(), async (request, response) => {
  const server = toolsFor(request.caller);
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.on('close', () => server.close());
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});
app.all('/mcp', expressProtect(api), (_request, response) => response.status(405).set('allow', 'POST').end());
app.listen(Number(PORT), () => console.log(`Listening on port ${PORT}`));
