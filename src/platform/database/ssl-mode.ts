/** The values of `sslmode` that libpq knows, and `no-verify` of the driver. */
const MODES = ['disable', 'allow', 'prefer', 'require', 'no-verify', 'verify-ca', 'verify-full'];

/** What is wrong with the encryption that an address asks for. */
export function sslModeProblem(parameters: URLSearchParams): string | undefined {
  const mode = parameters.get('sslmode');
  if (mode === null || MODES.includes(mode)) return undefined;
  return `must have sslmode=disable, require, verify-ca or verify-full, not "${mode}"`;
}

/**
 * Tells the driver, which by itself verifies the certificate in every mode, what libpq means by the encryption that an address asks for:
 * https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-PROTECTION. `allow` and `prefer` never fall back to a connection without
 * encryption, as libpq does, and `verify-ca` without a file of authorities is `verify-full`.
 * @returns whether the parameters were changed
 */
export function translateSslMode(parameters: URLSearchParams): boolean {
  const mode = parameters.get('sslmode');
  const fromSystem = parameters.get('sslrootcert') === 'system';
  // The authorities that Node trusts are those that it uses without a file.
  if (fromSystem) parameters.delete('sslrootcert');
  const hasAuthorities = parameters.has('sslrootcert');
  if (fromSystem || (mode === 'verify-ca' && !hasAuthorities)) {
    parameters.set('sslmode', 'verify-full');
    return true;
  }
  if (mode === null || ['disable', 'no-verify', 'verify-full'].includes(mode)) return false;
  parameters.set('sslmode', mode === 'verify-ca' ? 'verify-ca' : 'require');
  parameters.set('uselibpqcompat', 'true');
  return true;
}

/**
 * The encryption that an address asks for, if the certificate is not verified: libpq verifies it with `require` only against a file of
 * authorities. A socket is not encrypted.
 */
export function unverifiedMode(url: string): string | undefined {
  // Not by `URL`, which knows no address with several hosts.
  const [address = '', query = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(query);
  const mode = parameters.get('sslmode');
  const isSocket = parameters.get('host')?.startsWith('/') ?? /\/\/([^/]*@)?%2F/i.test(address);
  if (mode === null || isSocket) return undefined;
  if (mode === 'no-verify') return mode;
  return ['allow', 'prefer', 'require'].includes(mode) && !parameters.has('sslrootcert') ? mode : undefined;
}
