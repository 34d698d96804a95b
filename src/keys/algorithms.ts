/** The algorithms of the keys in the JWKS (RFC 7518 §3.1, RFC 8037 §3.1). */
export const ASYMMETRIC_ALGS = ['RS256', 'ES256', 'EdDSA'] as const;
export type AsymmetricAlg = (typeof ASYMMETRIC_ALGS)[number];

/** Always published: the default of ID tokens (OpenID Connect Registration 1.0 §2), and of logout tokens. */
const DEFAULT_ALG = 'RS256' satisfies AsymmetricAlg;

/** Published only while a client uses them, because some older libraries reject a key set with a key that they do not know. */
export const OPTIONAL_ALGS: readonly AsymmetricAlg[] = ASYMMETRIC_ALGS.filter((alg) => alg !== DEFAULT_ALG);

/** The algorithms of ID tokens. The key of HS256 is the client's secret. */
export const ID_TOKEN_ALGS = ['HS256', ...ASYMMETRIC_ALGS] as const;
export type IdTokenAlg = (typeof ID_TOKEN_ALGS)[number];

export const isAsymmetric = (alg: string): alg is AsymmetricAlg => (ASYMMETRIC_ALGS as readonly string[]).includes(alg);

/**
 * The hash algorithm of `at_hash`, which is that of the signature (OpenID Connect Core 1.0 §3.1.3.6). Ed25519 uses SHA-512
 * (RFC 8032 §5.1), and so do the libraries of clients: https://bitbucket.org/openid/connect/issues/1125
 */
export const HASH_OF: Readonly<Record<IdTokenAlg, 'sha256' | 'sha512'>> = {
  HS256: 'sha256',
  RS256: 'sha256',
  ES256: 'sha256',
  EdDSA: 'sha512',
};
