import type { Driver } from './load.ts';
import type { Seed } from './seed.ts';

/** Refresh: every connection follows a chain of its own, each token the successor of the last. */
export function refreshDriver(seeded: Seed, chains: Map<number, string>, keep: boolean): Driver {
  return {
    next(connection) {
      const body = JSON.stringify({
        grant_type: 'refresh_token',
        client_id: seeded.clientId,
        client_secret: seeded.clientSecret,
        refresh_token: chains.get(connection) ?? seeded.tokens[connection]?.refresh,
      });
      return `POST /api/v2/oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    },
    answered(connection, status, body) {
      if (keep && status === 200) chains.set(connection, JSON.parse(body).refresh_token);
      return status === 200;
    },
  };
}
