import type { RefusalDetail } from '../../../platform/oauth-error.ts';
import type { AboutCredential } from '../../refusals/row.ts';
import { row } from '../../refusals/row.ts';
import type { TokenFault } from '../misuse.ts';

/** Of the revocation endpoint. A token that is unknown, expired or revoked already is no error (RFC 7009 §2.2). */
export const REVOCATIONS = {
  'revocation of a token of another client': row<
    AboutCredential & { readonly familyId?: string; readonly issuedTo: string }
  >({
    when: 'The token to revoke was issued to another client.',
    app: {
      error: 'invalid_grant',
      description: 'The token was issued to another client. Only that one can revoke it.',
    },
    operator: {
      reason: 'of another client',
      trace: ({ issuedTo }) => ({
        rule: 'RFC 7009 §2.1',
        expected: 'a token of the client that sends it',
        received: `one that was issued to the app ${issuedTo}`,
        remedy:
          'Have the app that the token was issued to revoke it, or end the access of the user: tessera user disconnect USER CLIENT_ID',
      }),
      event: 'token.foreign_client',
      details: ({ familyId }) => (familyId === undefined ? {} : { familyId }),
    },
    example: { issuedTo: '1' },
  }),
};

/** What the operator is told of a text that is no token. The app gets the answer of a revocation (RFC 7009 §2.2). */
export interface NothingRevoked {
  readonly reason: string;
  readonly detail: RefusalDetail;
}

export const nothingRevoked = ({
  reason,
  description,
}: Pick<TokenFault, 'reason' | 'description'>): NothingRevoked => ({
  reason,
  detail: {
    rule: 'RFC 7009 §2.2',
    expected: 'an access token or a refresh token of the client',
    received: reason,
    remedy: `It ${description}`,
  },
});
