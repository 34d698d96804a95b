import { isLoopback } from './loopback.ts';
import { onOff } from './readings.ts';
import type { Reading } from './variable.ts';
import { Variable } from './variable.ts';

function serverUrl(value: string): Reading<URL> {
  const host = /^(?<name>[\w-]+(?:\.[\w-]+)*|\[[\da-f:]+\])(?::\d{1,5})?(?:\/|$)/i.exec(value)?.groups?.['name'];
  if (host !== undefined) {
    const scheme = isLoopback(host) ? 'http' : 'https';
    return { problem: `must begin with http:// or https://: write ${scheme}://${value.replace(/\/+$/, '')}` };
  }
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    return { problem: 'must be the base URL of a server, for example https://id.example.com' };
  }
  const [extra] = /\/api\/v2(\/.*)?$/.exec(url.pathname) ?? [];
  if (extra !== undefined)
    return { problem: `must be the base URL of the server: leave out ${extra.replace(/\/$/, '')}` };
  if (url.search || url.hash || url.username || url.password) {
    return { problem: 'must have no query, fragment, user name or password' };
  }
  return { value: url };
}

/** The variable of people who sign in with the command line. */
export const commandLineSignIn = new Variable('TESSERA_COMMAND_LINE_SIGN_IN', onOff, {
  initial: '`on`',
  about:
    'Whether operators can sign in with `tessera login`, and then use the admin API in their roles for eight hours. It needs a second factor.',
});

/** The variables of the command line alone: which server it administers, and as whom. */
export const remoteVariables = {
  server: new Variable('TESSERA_SERVER', serverUrl, {
    initial: 'none',
    about:
      'For the command line: the base URL of a server elsewhere, to [administer it over the admin API](../how-to/operators.md#from-elsewhere). Without it, commands work on the data of this machine.',
  }),
  keyFile: new Variable('TESSERA_KEY_FILE', (value) => ({ value }), {
    initial: 'none',
    about: 'For the command line with `TESSERA_SERVER`: a file that contains the admin key to act with.',
  }),
} as const;
