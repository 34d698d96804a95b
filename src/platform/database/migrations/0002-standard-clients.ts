import type { ColumnTypes } from './timeline.ts';

/** What standard OpenID Connect clients need: asymmetric keys of ID tokens, and more fields of the registration. */
export const standardClients = ({ int, options }: ColumnTypes): readonly string[] => [
  // Which of the keys of an algorithm signs follows from `signs_from`: no column says it a second time.
  `CREATE TABLE id_token_key (
    kid TEXT PRIMARY KEY,
    alg TEXT NOT NULL,
    sealed TEXT NOT NULL,
    public_jwk TEXT NOT NULL,
    created_at ${int} NOT NULL,
    signs_from ${int} NOT NULL
  ) ${options}`,

  'ALTER TABLE client ADD COLUMN token_endpoint_auth_method TEXT',
  'ALTER TABLE client ADD COLUMN jwks TEXT',
  'ALTER TABLE client ADD COLUMN jwks_uri TEXT',
  'ALTER TABLE client ADD COLUMN backchannel_logout_uri TEXT',
  `ALTER TABLE client ADD COLUMN backchannel_logout_session_required ${int}`,
  'ALTER TABLE client ADD COLUMN userinfo_signed_response_alg TEXT',
  'ALTER TABLE client ADD COLUMN grant_types TEXT',
  `ALTER TABLE client ADD COLUMN default_max_age ${int}`,
];
