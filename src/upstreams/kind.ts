import type { Clock } from '../platform/clock.ts';
import { randomSecret } from '../platform/crypto/secrets.ts';
import type { Outgoing } from '../platform/http/outgoing.ts';
import type { ProviderDocuments } from './provider-documents.ts';
import type { ClaimsMap } from './rules/claims-map.ts';
import type { UpstreamPerson } from './rules/id-token.ts';
import type { ProbeStep } from './rules/probe-step.ts';

/** How a provider knows us. */
export interface ProviderClient {
  /** Of an OpenID Provider; the base URL of GitHub. */
  readonly issuer: string;
  readonly clientId: string;
  /** Null for a public client; at Apple the private key, in PEM. */
  readonly clientSecret: string | null;
  readonly scopes: readonly string[];
  readonly subjectClaim: 'sub' | 'oid';
  /** Which claims are written into accounts. */
  readonly claimsMap: ClaimsMap;
  /** Names the private key at Apple. */
  readonly signer: KeyOfTeam | null;
}

/** How Apple names a private key. */
export interface KeyOfTeam {
  readonly teamId: string;
  readonly keyId: string;
}

/** What one sign-in takes along, and needs again when the person comes back. */
export interface ProviderAttempt {
  readonly nonce: string;
  /** Of PKCE (RFC 7636). */
  readonly verifier: string;
  /** The `max_age` that was asked for. */
  readonly maxAge: number | null;
  /** Since when the person was to authenticate; null where that was not asked for. */
  readonly notBefore: number | null;
}

/** How a person is to be asked. */
export interface ProviderQuestion {
  readonly redirectUri: string;
  readonly state: string;
  readonly prompt: 'login' | 'select_account' | null;
  readonly loginHint: string | null;
  /** The classes of authentication that the app asks for; empty where it asks for none. */
  readonly acrs: readonly string[];
}

/** How a browser came back. */
export interface ProviderReturn {
  /** All parameters; `state` was compared by the caller. */
  readonly callback: URLSearchParams;
  readonly redirectUri: string;
  readonly state: string;
}

export interface ProviderServices {
  readonly documents: ProviderDocuments;
  readonly outgoing: Outgoing;
  readonly clock: Clock;
  /** Whether this installation runs on a developer's machine, where `http` is allowed. */
  readonly local: boolean;
}

/** One kind of provider. Nothing else knows how they differ. */
export interface UpstreamKind {
  /** How the browser brings the response: in the query, or in a form that the provider's page sends. */
  readonly responseMode: 'query' | 'form_post';
  /** Whether a person who is signed in there can be asked to sign in again. */
  readonly asksAgain: boolean;
  /**
   * Where the browser goes to sign in.
   * @throws {UpstreamRefusal}
   */
  begin(
    services: ProviderServices,
    client: ProviderClient,
    attempt: ProviderAttempt,
    question: ProviderQuestion,
  ): Promise<string>;
  /**
   * Redeems the code that a browser brought back, and reads who the person is. The tokens are not kept.
   * @throws {UpstreamRefusal}
   */
  finish(
    services: ProviderServices,
    client: ProviderClient,
    attempt: ProviderAttempt,
    back: ProviderReturn,
  ): Promise<UpstreamPerson>;
  /**
   * Walks the way of a sign-in as far as it goes without a person.
   * @param services with documents that were not fetched before
   */
  probe(services: ProviderServices, client: ProviderClient, redirectUri: string): Promise<readonly ProbeStep[]>;
}

/**
 * @param maxAge in seconds; null where it does not matter when the person authenticated
 * @param notBefore the instant of a request that asks for another sign-in
 */
export const newAttempt = (maxAge: number | null, notBefore: number | null): ProviderAttempt => ({
  nonce: randomSecret(),
  verifier: randomSecret(),
  maxAge,
  notBefore,
});
