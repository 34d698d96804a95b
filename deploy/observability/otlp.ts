import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startOtlpReceiver } from '../../test/support/otlp-receiver.ts';
import { freePort, launchClone } from '../launch.ts';
import { CHECKED, driveSignIn } from '../sign-in.ts';

/*
 * Holds what is sent by OTLP against the official definitions, in both encodings: takes a person through a server that exports traces and
 * metrics, and parses each request with `otlp.py`. Needs python3, or PYTHON, with opentelemetry-proto from PyPI.
 */

const folder = mkdtempSync(join(tmpdir(), 'tessera-otlp-'));

/** Writes the bodies of the requests that a server sends, as `<number>.<signal>.<encoding>`. */
async function record(protocol: 'http/protobuf' | 'http/json', requests: string): Promise<void> {
  const collector = await startOtlpReceiver();
  const port = await freePort();
  const [, encoding = ''] = protocol.split('/');
  try {
    const server = await launchClone(port, join(folder, encoding), {
      ...CHECKED,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
    });
    try {
      await driveSignIn(`http://localhost:${port}`);
    } finally {
      // A stopping server sends what is left.
      await server.stop();
    }
    for (const [index, { path, headers, body }] of collector.exports.entries()) {
      assert.equal(headers['content-type'], encoding === 'json' ? 'application/json' : 'application/x-protobuf');
      assert.match(path, /^\/v1\/(traces|metrics)$/);
      writeFileSync(join(requests, `${index}-${encoding}.${path.slice('/v1/'.length)}.${encoding}`), body);
    }
  } finally {
    await collector.close();
  }
}

try {
  const requests = join(folder, 'requests');
  mkdirSync(requests);
  await record('http/protobuf', requests);
  await record('http/json', requests);
  const script = fileURLToPath(new URL('otlp.py', import.meta.url));
  execFileSync(process.env['PYTHON'] ?? 'python3', [script, requests], { stdio: 'inherit' });
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.stdout.write('What is sent by OTLP meets the definitions.\n');
