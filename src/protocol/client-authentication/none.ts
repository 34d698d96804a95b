import type { Client } from '../../clients/store.ts';
import type { AuthenticationFailure, ClientProof } from './authenticate.ts';

/** `none` (OpenID Connect Core 1.0 §9): a public client sends only its id. PKCE binds the code to it (RFC 9700 §2.1.1). */
export const authenticateByIdAlone = ({ type }: Client): ClientProof | AuthenticationFailure =>
  type === 'public' ? { kind: 'public' } : { reason: 'no secret' };
