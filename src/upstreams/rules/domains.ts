import { isOfAnyTenant, isOfPersonalAccounts } from './issuer.ts';
import type { UpstreamKindName } from './presets.ts';

/** Where anybody gets an address. A provider that answers for one of these would answer for strangers. */
const PUBLIC_MAIL = new Set(
  [
    'gmail.com googlemail.com outlook.com outlook.de outlook.fr outlook.es outlook.jp hotmail.com hotmail.co.uk hotmail.de hotmail.fr',
    'hotmail.it hotmail.es live.com live.co.uk live.nl live.fr msn.com passport.com yahoo.com yahoo.co.uk yahoo.co.jp yahoo.de yahoo.fr',
    'yahoo.es yahoo.it yahoo.com.br yahoo.co.in ymail.com rocketmail.com aol.com aim.com icloud.com me.com mac.com',
    'privaterelay.appleid.com users.noreply.github.com proton.me protonmail.com protonmail.ch pm.me tutanota.com tutamail.com tuta.io',
    'gmx.de gmx.net gmx.com gmx.at gmx.ch web.de t-online.de freenet.de mail.de posteo.de mailbox.org fastmail.com fastmail.fm hey.com',
    'zoho.com zohomail.com mail.com email.com mail.ru bk.ru list.ru inbox.ru internet.ru rambler.ru yandex.ru yandex.com ya.ru ukr.net',
    'i.ua qq.com foxmail.com 163.com 126.com yeah.net sina.com sohu.com aliyun.com naver.com hanmail.net daum.net nate.com rediffmail.com',
    'orange.fr wanadoo.fr free.fr sfr.fr laposte.net bbox.fr libero.it virgilio.it tiscali.it alice.it tin.it telenet.be skynet.be',
    'ziggo.nl kpnmail.nl planet.nl home.nl bluewin.ch btinternet.com sky.com virginmedia.com talktalk.net ntlworld.com comcast.net',
    'verizon.net att.net sbcglobal.net bellsouth.net cox.net charter.net earthlink.net shaw.ca rogers.com sympatico.ca bigpond.com',
    'optusnet.com.au uol.com.br bol.com.br terra.com.br seznam.cz centrum.cz wp.pl o2.pl onet.pl interia.pl abv.bg mynet.com walla.com',
    'duck.com simplelogin.com mozmail.com mailinator.com guerrillamail.com yopmail.com',
  ].flatMap((line) => line.split(' ')),
);

/**
 * Why a provider cannot be authoritative for the addresses of a domain, phrased to follow "domains must"; undefined where it can.
 * @param domain in ASCII and lower case
 */
export function authorityProblem(
  { kind, issuer }: { readonly kind: UpstreamKindName; readonly issuer: string },
  domain: string,
): string | undefined {
  if (kind !== 'oidc') return 'be empty with this kind: it does not answer for addresses';
  if (isOfAnyTenant(issuer)) return 'be empty where people of any tenant sign in: nobody answers for their addresses';
  if (isOfPersonalAccounts(issuer)) return 'be empty with personal accounts of Microsoft, which anybody gets';
  return PUBLIC_MAIL.has(domain) ? `not have ${domain}, where anybody gets an address` : undefined;
}

/** The domain of an address, in lower case; undefined for what is no address. */
export function domainIn(address: string): string | undefined {
  const at = address.lastIndexOf('@');
  return at > 0 && at < address.length - 1 ? address.slice(at + 1).toLowerCase() : undefined;
}

/** Whether the domain of an address is exactly one of those for which an upstream is authoritative. */
export const isAuthoritativeFor = ({ domains }: { readonly domains: readonly string[] }, address: string): boolean =>
  domains.includes(domainIn(address) ?? '');
