/** Why a sign-in through an upstream cannot go on. */
export type UpstreamRefusalKind =
  /** The metadata, the keys or the token endpoint did not answer, or not with what was expected. */
  | 'metadata'
  | 'keys'
  | 'token endpoint'
  /** The person said no, or the upstream did. */
  | 'cancelled'
  | 'denied'
  /** The provider cannot do what the app asks for. */
  | 'unable'
  /** What came back is not for this sign-in. */
  | 'response'
  /** The ID token or logout token is not valid. */
  | 'token';

/** A refusal of or by an upstream. The message is for operators: it has no code, token or secret in it. */
export class UpstreamRefusal extends Error {
  override readonly name = 'UpstreamRefusal';
  readonly kind: UpstreamRefusalKind;
  /** The error code of the upstream, where it answered with one. */
  readonly code: string | undefined;

  constructor(kind: UpstreamRefusalKind, message: string, code?: string) {
    super(message);
    this.kind = kind;
    this.code = code;
  }
}
