/** The hosts of Microsoft Entra, in its clouds. */
const ENTRA = ['login.microsoftonline.com', 'login.microsoftonline.us', 'login.partner.microsoftonline.cn'];

/** Its issuers for people of any tenant. */
const ANY_TENANT = ['common', 'organizations', 'consumers'];

/**
 * The claim that names a person at an issuer. In Microsoft Entra `sub` is another one for each app, so that a new registration there would
 * make a stranger of everybody (decisions §14).
 */
export const subjectClaimOf = (issuer: string): 'sub' | 'oid' =>
  ENTRA.includes(new URL(issuer).hostname) ? 'oid' : 'sub';

/**
 * What is wrong with an issuer, phrased to follow "must"; undefined where nothing is.
 * @param local whether `http` is allowed on loopback, and a port
 */
export function issuerProblem(issuer: string, local: boolean): string | undefined {
  const url = URL.parse(issuer);
  const isHttp = local && url?.protocol === 'http:';
  if (url === null || (url.protocol !== 'https:' && !isHttp)) return 'be an https URL';
  if (url.username !== '' || url.password !== '') return 'have no user name or password';
  // OpenID Connect Discovery 1.0 §3.
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(issuer)) return 'have neither a query nor a fragment';
  if (/\.well-known\//.test(url.pathname)) return 'be the issuer itself, without /.well-known/openid-configuration';
  if (issuer.length > 255) return 'have at most 255 characters';
  if (ENTRA.includes(url.hostname) && ANY_TENANT.some((name) => url.pathname.startsWith(`/${name}/`))) {
    return 'be that of one tenant of Microsoft Entra: https://login.microsoftonline.com/TENANT-ID/v2.0';
  }
  return undefined;
}
