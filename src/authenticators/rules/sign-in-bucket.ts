/** Begins the names of the buckets that count attempts to sign in, by whatever means, for the network address that they come from. */
export const SIGN_IN_FROM = 'sign-in from';
