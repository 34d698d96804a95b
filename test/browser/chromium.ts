import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packed, { inflate } from '@sparticuz/chromium';
import { type Browser, chromium } from 'playwright-core';

export interface RunningChromium {
  readonly browser: Browser;
  close(): Promise<void>;
}

/** Only our own addresses exist, and nothing happens behind the pages. */
const ARGS = [
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--no-pings',
  '--no-first-run',
  '--font-render-hinting=none',
  // Drawn by the processor alone: no second process that could fail beside the page.
  '--disable-gpu',
];

/** Open Sans comes with the browser, so that pages look the same wherever they are drawn. */
const fontConfig = (folder: string): string => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${folder}/fonts</dir>
  <dir>/usr/share/fonts/truetype/dejavu</dir>
  <cachedir>${folder}/font-cache</cachedir>
  <alias binding="strong"><family>system-ui</family><prefer><family>Open Sans</family></prefer></alias>
  <alias binding="strong"><family>sans-serif</family><prefer><family>Open Sans</family></prefer></alias>
  <alias binding="strong"><family>monospace</family><prefer><family>DejaVu Sans Mono</family></prefer></alias>
</fontconfig>
`;

/**
 * Starts the Chromium that comes from the npm registry, or the one that TESSERA_TEST_CHROMIUM names. It is unpacked into
 * a folder of its own: the package would otherwise run whatever copy lies in the shared temporary folder.
 */
export async function startChromium(): Promise<RunningChromium> {
  const folder = mkdtempSync(join(tmpdir(), 'tessera-chromium-'));
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  try {
    const env: Record<string, string> = { HOME: folder, TMPDIR: folder };
    for (const name of ['PATH', 'LD_LIBRARY_PATH'] as const) {
      const value = process.env[name];
      if (value !== undefined) env[name] = value;
    }
    const executablePath = process.env['TESSERA_TEST_CHROMIUM'] ?? (await unpack(folder, env));
    const browser = await chromium.launch({ executablePath, args: ARGS, env });
    return {
      browser,
      async close() {
        await browser.close();
        remove();
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Unpacks browser and fonts and, where the machine lacks them, the libraries; adds to `env` what they need. */
async function unpack(folder: string, env: Record<string, string>): Promise<string> {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    throw new Error(
      'There is a Chromium for Linux on x64 alone. Set TESSERA_TEST_CHROMIUM to the path of another one.',
    );
  }
  return withTemporaryFolder(folder, async () => {
    packed.setGraphicsMode = false;
    const path = await packed.executablePath();
    writeFileSync(join(folder, 'fonts.conf'), fontConfig(folder));
    env['FONTCONFIG_FILE'] = join(folder, 'fonts.conf');
    // 127 is what the loader exits with where a library is missing.
    if (spawnSync(path, ['--version'], { env }).status === 127) {
      const archive = new URL('../bin/al2023.tar.br', import.meta.resolve('@sparticuz/chromium'));
      const libraries = join(await inflate(fileURLToPath(archive)), 'lib');
      env['LD_LIBRARY_PATH'] = [libraries, env['LD_LIBRARY_PATH']].filter((part) => part !== undefined).join(':');
    }
    return path;
  });
}

/** The package unpacks into the temporary folder, wherever that is. */
async function withTemporaryFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = folder;
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}
