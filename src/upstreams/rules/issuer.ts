/** The hosts of Microsoft Entra, in its clouds. */
const ENTRA = ['login.microsoftonline.com', 'login.microsoftonline.us', 'login.partner.microsoftonline.cn'];

/** Its issuers for people of any tenant. */
const ANY_TENANT = ['common', 'organizations'];

/** The tenant in which all personal accounts of Microsoft are. */
const PERSONAL_ACCOUNTS = '9188040d-6c67-4c5b-b112-36a304b66dad';

/** What stands for the tenant in the metadata of these. */
const TENANT = '{tenantid}';

/** Whether people of any tenant of Microsoft Entra sign in: nobody there answers for the addresses of all of them. */
export function isOfAnyTenant(issuer: string): boolean {
  const { hostname, pathname } = new URL(issuer);
  return ENTRA.includes(hostname) && ANY_TENANT.some((name) => pathname === `/${name}/v2.0`);
}

/** Whether people sign in with personal accounts of Microsoft: anybody gets one, with an address of any domain. */
export function isOfPersonalAccounts(issuer: string): boolean {
  const { hostname, pathname } = new URL(issuer);
  return ENTRA.includes(hostname) && pathname.split('/')[1]?.toLowerCase() === PERSONAL_ACCOUNTS;
}

/** The issuer that the metadata must name: that of people of any tenant has a placeholder. */
export const metadataIssuerOf = (issuer: string): string =>
  isOfAnyTenant(issuer) ? issuer.replace(/[a-z]+\/v2\.0$/, `${TENANT}/v2.0`) : issuer;

/**
 * The issuer that a token must name; undefined where it names no tenant, and must. For people of any tenant its issuer has the tenant in it,
 * while the keys are the same for all.
 * @param issuer of the metadata
 */
export function issuerOf(issuer: string, { tid }: { readonly tid?: unknown }): string | undefined {
  if (!issuer.includes(TENANT)) return issuer;
  return typeof tid === 'string' && /^[0-9a-f-]{36}$/.test(tid) ? issuer.replace(TENANT, tid) : undefined;
}

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
  if (ENTRA.includes(url.hostname) && url.pathname.startsWith('/consumers/')) {
    return 'name the tenant of personal accounts instead of consumers: 9188040d-6c67-4c5b-b112-36a304b66dad';
  }
  return undefined;
}
