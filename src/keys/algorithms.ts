/** The algorithms of ID tokens whose keys are in the JWKS (RFC 7518 §3.1, RFC 8037 §3.1). */
export const ASYMMETRIC_ALGS = ['RS256', 'ES256', 'EdDSA'] as const;
export type AsymmetricAlg = (typeof ASYMMETRIC_ALGS)[number];

/** Every algorithm that an ID token may be signed with; HS256 under the client's own secret. */
export const ID_TOKEN_ALGS = ['HS256', ...ASYMMETRIC_ALGS] as const;
export type IdTokenAlg = (typeof ID_TOKEN_ALGS)[number];

export const isAsymmetric = (alg: string): alg is AsymmetricAlg => (ASYMMETRIC_ALGS as readonly string[]).includes(alg);

/**
 * The hash of `at_hash`: that of the signature's algorithm (OpenID Connect Core 1.0 §3.1.3.6). Ed25519 hashes with SHA-512
 * (RFC 8032 §5.1), and so do the libraries that check: https://bitbucket.org/openid/connect/issues/1125
 */
export const HASH_OF: Readonly<Record<IdTokenAlg, 'sha256' | 'sha512'>> = {
  HS256: 'sha256',
  RS256: 'sha256',
  ES256: 'sha256',
  EdDSA: 'sha512',
};
