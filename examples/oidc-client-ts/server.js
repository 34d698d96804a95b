// Serves the single-page app. Any web server will do.
//
//   npm install oidc-client-ts
//   ISSUER=https://id.example.com CLIENT_ID=… PORT=8080 node server.js
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const { ISSUER, CLIENT_ID, PORT } = process.env;

const library = new URL('../browser/oidc-client-ts.min.js', import.meta.resolve('oidc-client-ts'));
const page = [readFileSync(new URL('index.html', import.meta.url)), 'text/html; charset=utf-8'];
const files = {
  '/': page,
  '/callback': page,
  '/app.js': [readFileSync(new URL('app.js', import.meta.url)), 'text/javascript'],
  '/oidc-client-ts.min.js': [readFileSync(library), 'text/javascript'],
  '/settings.json': [JSON.stringify({ issuer: ISSUER, clientId: CLIENT_ID }), 'application/json'],
};

createServer((req, res) => {
  const [content, type] = files[req.url.split('?')[0]] ?? ['Not found', 'text/plain'];
  res.writeHead(content === 'Not found' ? 404 : 200, {
    'content-type': type,
    // The page holds tokens: allow only its own scripts, and requests only to the issuer.
    'content-security-policy': `default-src 'self'; img-src data:; connect-src 'self' ${new URL(ISSUER).origin}; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
  });
  res.end(content);
}).listen(PORT, () => console.log(`Listening at http://localhost:${PORT}`));
