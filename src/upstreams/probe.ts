import { newAttempt, type ProviderClient, redeemProviderCode } from './provider.ts';
import type { ProviderDocuments, ProviderMetadata } from './provider-documents.ts';
import { UpstreamRefusal } from './refusal.ts';

export const PROBE_STEPS = ['metadata', 'keys', 'client'] as const;
export const PROBE_LEVELS = ['ok', 'warning', 'problem'] as const;

/** What was found in one step of a test. */
export interface ProbeStep {
  readonly step: (typeof PROBE_STEPS)[number];
  readonly level: (typeof PROBE_LEVELS)[number];
  /** A sentence for operators. */
  readonly found: string;
}

type ProbeServices = Parameters<typeof redeemProviderCode>[0];

/**
 * Walks the way of a sign-in at a provider as far as it goes without a person.
 * @param services with documents that were not fetched before
 */
export async function probeProvider(
  services: ProbeServices,
  client: ProviderClient,
  redirectUri: string,
): Promise<readonly ProbeStep[]> {
  const { documents } = services;
  const steps: ProbeStep[] = [];
  try {
    const metadata = await documents.metadata(client.issuer);
    steps.push(...ofMetadata(metadata), await ofKeys(documents, metadata));
    steps.push(await ofClient(services, client, metadata, redirectUri));
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
    : { step: 'keys', level: 'ok', found: `${count} keys can verify ID tokens.` };
}

/** A provider that refuses a code as it should has accepted the client that sent it. */
async function ofClient(
  services: ProbeServices,
  client: ProviderClient,
  { issuer }: ProviderMetadata,
  redirectUri: string,
): Promise<ProbeStep> {
  const step = 'client' as const;
  const state = 'test';
  const callback = new URLSearchParams({ code: 'no-code-but-a-test', state, iss: issuer });
  try {
    await redeemProviderCode(services, client, newAttempt(null, null), { callback, redirectUri, state });
  } catch (error) {
    if (!(error instanceof UpstreamRefusal)) throw error;
    if (error.code === 'invalid_grant') {
      return { step, level: 'ok', found: 'The provider accepts the client ID and the secret.' };
    }
    const isUnknown = error.code === 'invalid_client' || error.code === 'unauthorized_client';
    return isUnknown
      ? { step, level: 'problem', found: `${error.message} Check the client ID and the secret.` }
      : { step, level: 'warning', found: `It is not known whether the provider accepts the client. ${error.message}` };
  }
  return { step, level: 'problem', found: 'The provider accepted a code that it has not made.' };
}
