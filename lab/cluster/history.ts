/** A stretch of the one clock by which everything is ordered: milliseconds that never repeat. */
export interface Moment {
  readonly start: number;
  readonly end: number;
}

/** Decisions §10: which endpoints, the contract's or the standards'. */
export type EndpointSet = 'v2' | 'oidc';

/** Who registered an app: decisions §15. Those for devices are registered by an operator as well. */
export type RegisteredBy = 'operator' | 'itself' | 'document' | 'device';

/** What was asked, by the names that the driver gave to users, clients, sessions, codes and tokens; equal texts, equal names. */
export type Asked =
  | { readonly kind: 'sign in'; readonly user: string; readonly session?: string }
  | {
      readonly kind: 'authorize';
      readonly endpointSet: EndpointSet;
      readonly user: string;
      readonly client: string;
      readonly session: string;
      readonly code?: string;
    }
  | {
      readonly kind: 'consent';
      readonly endpointSet: EndpointSet;
      readonly user: string;
      readonly client: string;
      readonly session: string;
      /** The authorization request whose page was answered. */
      readonly began: Moment;
      /** The page whose form was sent. */
      readonly shown: Moment;
      readonly code?: string;
    }
  /** At the endpoint of a set of endpoints, which may be the wrong one. */
  | (Issued & { readonly kind: 'redeem'; readonly at: EndpointSet; readonly code: string })
  | (Issued & { readonly kind: 'refresh'; readonly at: EndpointSet; readonly token: string })
  | { readonly kind: 'userinfo'; readonly at: EndpointSet; readonly access: string }
  | { readonly kind: AccountEvent; readonly user: string; readonly session?: string }
  | { readonly kind: 'revoke'; readonly user: string; readonly client: string; readonly session?: string }
  /** Of every app, by the person. */
  | { readonly kind: 'revoke all'; readonly user: string; readonly session: string }
  | { readonly kind: 'disable' | 'enable'; readonly client: string }
  /** Of an app that no history names otherwise: who registered it, and its domain. */
  | { readonly kind: 'register'; readonly client: string; readonly by: RegisteredBy; readonly host?: string }
  /** By an operator, or by the app itself (RFC 7592). */
  | { readonly kind: 'delete'; readonly client: string }
  | { readonly kind: 'block' | 'unblock'; readonly host: string }
  | { readonly kind: 'start device'; readonly client: string; readonly device?: string }
  | {
      readonly kind: 'answer device';
      readonly decision: 'allow' | 'deny';
      readonly device: string;
      readonly user: string;
      readonly client: string;
      readonly session: string;
      /** The page whose form was sent. */
      readonly shown: Moment;
    }
  /** A device asks for its tokens: RFC 8628 §3.4. */
  | (Issued & { readonly kind: 'poll'; readonly at: 'oidc'; readonly device: string })
  /** A page that is only looked at, and a change of the signing keys: they change nothing that is judged here. */
  | { readonly kind: 'page' | 'rotate keys' };

/** The tokens of an answer. */
interface Issued {
  readonly access?: string;
  readonly refresh?: string;
}

export type AccountEvent =
  | 'ban'
  | 'unban'
  | 'suspend'
  | 'reinstate'
  /** With a session: by the person, and only if it is still one. */
  | 'sign out everywhere'
  | 'new password';

/**
 * One request and its answer. The outcome is `ok`; or the status and error of a refusal, with the message where the contract
 * has one (`403 Account banned`, `400 Account banned` at the OIDC endpoints, `400 invalid_grant`); or where a browser was led
 * (`login`, `consent`).
 */
export type Operation = Asked & Moment & { readonly number: number; readonly node: number; readonly outcome: string };

export const OK = 'ok';

/** Milliseconds of the process's own clock, each reading later than the one before. */
export function strictClock(): () => number {
  let last = 0;
  return () => {
    last = Math.max(performance.now(), last + 1e-6);
    return last;
  };
}

/** An operation on one line. */
export function show({ number, node, start, end, kind, outcome, ...rest }: Operation): string {
  const names = Object.entries(rest).filter(([, value]) => typeof value === 'string');
  const about = names.map(([name, value]) => `${name}=${value}`);
  const when = `${start.toFixed(3)}–${end.toFixed(3)}`;
  return `#${number} ${when} node ${node}: ${kind} ${about.join(' ')} → ${outcome}`;
}
