import { newAttempt, type ProviderAttempt, type ProviderServices } from './kind.ts';
import type { ProviderDocuments, ProviderMetadata } from './provider-documents.ts';
import { UpstreamRefusal } from './refusal.ts';
import type { ProbeStep } from './rules/probe-step.ts';

/** Redeems a code that the provider has not made. */
type Redeem = (attempt: ProviderAttempt, callback: URLSearchParams) => Promise<unknown>;

/**
 * Walks the way of a sign-in at an OpenID Provider as far as it goes without a person.
 * @param services with documents that were not fetched before
 */
export async function probeProvider(
  { documents }: Pick<ProviderServices, 'documents'>,
  issuer: string,
  redeem: Redeem,
): Promise<readonly ProbeStep[]> {
  const steps: ProbeStep[] = [];
  try {
    const metadata = await documents.metadata(issuer);
    steps.push(...ofMetadata(metadata), await ofKeys(documents, metadata), await probeClient(metadata, redeem));
  } catch (error) {
    if (!(error instanceof UpstreamRefusal)) throw error;
    steps.push({ step: error.kind === 'keys' ? 'keys' : 'metadata', level: 'problem', found: error.message });
  }
  return steps;
}

/** The metadata, and what a provider does not offer that would be safer. */
function ofMetadata(metadata: ProviderMetadata): readonly ProbeStep[] {
  const found: ProbeStep = { step: 'metadata', level: 'ok', found: `The metadata of ${metadata.issuer} is complete.` };
  const missing: readonly (readonly [boolean, string])[] = [
    [
      metadata.code_challenge_methods_supported?.includes('S256') !== true,
      'It does not say that it supports PKCE (RFC 7636), which is sent all the same.',
    ],
    [
      metadata.authorization_response_iss_parameter_supported !== true,
      'It does not name itself in its responses (RFC 9207). Each provider has a redirect URI of its own instead.',
    ],
    [
      metadata['backchannel_logout_supported'] !== true,
      'It has no back-channel logout: what it ends goes on here until the next sign-in.',
    ],
  ];
  const warnings = missing.filter(([isMissing]) => isMissing).map(([, text]) => text);
  return [found, ...warnings.map((text): ProbeStep => ({ step: 'metadata', level: 'warning', found: text }))];
}

async function ofKeys(documents: ProviderDocuments, metadata: ProviderMetadata): Promise<ProbeStep> {
  const count = await documents.usableKeys(metadata);
  return count === 0
    ? { step: 'keys', level: 'problem', found: 'The provider publishes no key that can verify ID tokens.' }
    : {
        step: 'keys',
        level: 'ok',
        found: count === 1 ? '1 key can verify ID tokens.' : `${count} keys can verify ID tokens.`,
      };
}

/** What a provider answers to a client that it knows, and to one that it does not: RFC 6749 §5.2, and GitHub. */
const ACCEPTED: readonly string[] = ['invalid_grant', 'bad_verification_code'];
const UNKNOWN: readonly string[] = [
  'invalid_client',
  'unauthorized_client',
  'incorrect_client_credentials',
  'Not Found',
];

/** Whether a provider answered that it does not accept the client, or its secret. */
export const isUnknownClient = (code: string | undefined): boolean => code !== undefined && UNKNOWN.includes(code);

/** A provider that refuses a code as it should has accepted the client that sent it. */
export async function probeClient({ issuer }: { readonly issuer: string }, redeem: Redeem): Promise<ProbeStep> {
  const step = 'client' as const;
  try {
    const callback = new URLSearchParams({ code: 'no-code-but-a-test', state: 'test', iss: issuer });
    await redeem(newAttempt(null, null), callback);
  } catch (error) {
    if (!(error instanceof UpstreamRefusal)) throw error;
    const { code, message } = error;
    if (code !== undefined && ACCEPTED.includes(code)) {
      return { step, level: 'ok', found: 'The provider accepts the client ID and the secret.' };
    }
    return isUnknownClient(code)
      ? { step, level: 'problem', found: `${message} Check the client ID and the secret.` }
      : { step, level: 'warning', found: `It is not known whether the provider accepts the client. ${message}` };
  }
  return { step, level: 'problem', found: 'The provider accepted a code that it has not made.' };
}
