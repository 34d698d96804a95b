import { addressBucket, type Origin } from '../../platform/validation/origin.ts';

/** The bucket of the attempts to sign in from a network address, by whatever means. */
export const signInBucket = ({ address }: Pick<Origin, 'address'>): string =>
  `sign-in from ${addressBucket(address ?? '')}`;
