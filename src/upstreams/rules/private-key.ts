import { createPrivateKey, type KeyObject } from 'node:crypto';

/** What is wrong with the private key of Apple's client secrets, phrased to follow "must"; undefined where nothing is. */
export function privateKeyProblem(pem: string): string | undefined {
  if (!/^\s*-{5}BEGIN PRIVATE KEY-{5}/.test(pem)) return 'be the content of the .p8 file, in PEM (PKCS #8)';
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch {
    return 'be a private key in PEM (PKCS #8): this one cannot be read';
  }
  const isP256 = key.asymmetricKeyType === 'ec' && key.asymmetricKeyDetails?.namedCurve === 'prime256v1';
  return isP256 ? undefined : 'be an EC key on the curve P-256';
}
