import type { RepeatableParameters } from '../../platform/http/parameters.ts';
import type { ConsoleVisit } from '../visit.ts';
import { appActAddress } from './addresses.ts';

/*
 * The page of a refused request leads to the redirect URIs of its app, with the refused one filled in. The address is signed: otherwise
 * anybody could send an operator a link that fills in a URI of theirs.
 */

const contextOf = (clientId: string, uri: string): string => `add redirect URI ${JSON.stringify([clientId, uri])}`;

/** The page that offers to add a URI to those of an app. */
export const addUriAddress = ({ browser, account, session }: ConsoleVisit, clientId: string, uri: string): string =>
  appActAddress('redirect-uris', {
    app: clientId,
    add: uri,
    signed: browser.formToken(contextOf(clientId, uri), { account, session }),
  });

/** The URI that such an address names, if this operator was shown it in this browser. */
export function addedUri(
  { browser, account }: ConsoleVisit,
  clientId: string,
  query: Pick<RepeatableParameters, 'get'>,
): string | undefined {
  const uri = query.get('add') ?? '';
  const shownTo = browser.accountOf(query.get('signed') ?? '', contextOf(clientId, uri));
  return uri !== '' && shownTo === account.id ? uri : undefined;
}
