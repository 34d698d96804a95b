import { isIPv6 } from 'node:net';
import type { Reading } from './variable.ts';

/** Where the metrics are served. */
export interface MetricsAddress {
  readonly host: string;
  readonly port: number;
}

/** An address to listen on. An IPv6 address may have brackets, as in a URL. */
export function listenHost(value: string): Reading<string> {
  const address = /^\[(.*)\]$/.exec(value)?.[1] ?? '';
  return { value: isIPv6(address) ? address : value };
}

export function metricsAddress(value: string): Reading<MetricsAddress | undefined> {
  if (value === 'off') return { value: undefined };
  const [, host = '', port = ''] = /^(\[[0-9a-f:.]+\]|[^\s:]+):(\d{1,5})$/i.exec(value) ?? [];
  if (port === '' || Number(port) > 65_535)
    return { problem: 'must be <address>:<port>, for example 127.0.0.1:9464, or off' };
  return { value: { host: host.replace(/^\[|\]$/g, ''), port: Number(port) } };
}
