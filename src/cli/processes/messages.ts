import type { LogLoss } from '../../platform/log-output.ts';
import type { MetricValues } from '../../platform/metrics/added-up.ts';

/** What the machine does a bounded number of at a time, however many processes want it. */
export type Scarce = 'hash' | 'picture';

/** What the supervisor tells a process. */
export type Order =
  | {
      readonly kind: 'start';
      readonly number: number;
      /** The port to ask for. 0 is the one that the system chose for the processes that live. */
      readonly port: number;
      /** The port on which others answer already; undefined for the first process. */
      readonly joins: number | undefined;
    }
  /** It is the turn of the request with this number. */
  | { readonly kind: 'turn'; readonly request: number }
  | { readonly kind: 'measure' }
  /** It is to say that it works. `log` is what the supervisor has lost of the lines of all. */
  | { readonly kind: 'look'; readonly log: LogLoss }
  | { readonly kind: 'drain' }
  | { readonly kind: 'close'; readonly patiently: boolean };

/** What a process tells the supervisor. */
export type Report =
  | {
      readonly kind: 'ready';
      readonly baseUrl: string;
      readonly port: number;
      readonly setupAddress: string | undefined;
    }
  /** It waits for a turn, and numbers its request. */
  | { readonly kind: 'asks'; readonly what: Scarce; readonly request: number }
  | { readonly kind: 'gives back'; readonly what: Scarce }
  | { readonly kind: 'measured'; readonly values: MetricValues }
  | { readonly kind: 'works' }
  /** It has been told to close. */
  | { readonly kind: 'closing' };
