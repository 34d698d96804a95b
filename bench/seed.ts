import { createAccount } from '../src/accounts/accounts.ts';
import { createClient } from '../src/clients/clients.ts';
import { SECOND } from '../src/clock.ts';
import { readConfig } from '../src/config/config.ts';
import { addGrant } from '../src/consent/store.ts';
import { openCore } from '../src/core.ts';
import type { Origin } from '../src/events/audit.ts';
import { openKeys } from '../src/keys/keys.ts';
import { randomIdentifier } from '../src/secrets.ts';
import { insertFamily } from '../src/token/family-store.ts';
import { mint, newLeaf } from '../src/token/mint.ts';
import { FAMILY_LIFETIME } from '../src/token/rules/claims.ts';

/** What a load needs: one client, and live tokens of as many people. */
export interface Seed {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly tokens: readonly { readonly access: string; readonly refresh: string }[];
}

const origin: Origin = { actor: { type: 'system', id: null }, address: null, requestId: null };

export type Environment = Readonly<Record<string, string>>;

/** Fills a database with people who each gave one app access, through the service's own functions. */
export async function seed(environment: Environment & { TESSERA_BASE_URL: string }, people: number): Promise<Seed> {
  const issuer = environment.TESSERA_BASE_URL;
  const core = await openCore(readConfig(environment), Date.now);
  const { database, ids, secret, clock } = core;
  const keys = await openKeys(database, { current: secret, previous: undefined }, clock);
  const created = await createClient(
    core,
    { name: 'Load', redirectUris: ['https://app.example.com/callback'] },
    origin,
  );
  const { client, clientSecret = '' } = created;
  const tokens: { access: string; refresh: string }[] = [];

  async function person(index: number): Promise<void> {
    const email = `person${index}@example.com`;
    const name = { username: `person${index}`, displayName: `Person ${index}`, email };
    const account = await createAccount(core, name, origin);
    const [grantId, familyId] = [await ids.next(), await ids.next()];
    const now = clock();
    const endsAt = now + FAMILY_LIFETIME * SECOND;
    const leaf = newLeaf(keys.ring(), now, endsAt);
    const scopes = 'openid email';
    const about = { accountId: account.id, clientId: client.id, scopes };
    const sid = randomIdentifier();
    await database.commit(function* grant() {
      yield* addGrant({ ...about, id: grantId, declined: '', epoch: client.consentEpoch, now });
      yield* insertFamily({
        ...about,
        id: familyId,
        grantId,
        accountGeneration: account.generation,
        clientGeneration: client.generation,
        claims: null,
        sid,
        authTime: now,
        leaf,
        createdAt: now,
        endsAt,
      });
    });
    const ids_ = { issuer, accountId: account.id, clientId: client.id, familyId };
    const subject = { ...ids_, profile: account.profile, updatedAt: account.updatedAt, sid, authTime: now };
    const proof = { kind: 'secret', secret: clientSecret } as const;
    const order = {
      subject,
      scope: scopes,
      leaf,
      nonce: null,
      narrowed: false,
      claims: null,
      alg: 'HS256',
      proof,
    } as const;
    const minted = mint(keys.ring(), order, now);
    if (minted === undefined) throw new Error('the key set changed while seeding');
    tokens[index] = { access: minted.access_token, refresh: minted.refresh_token };
  }

  for (let from = 0; from < people; from += 500) {
    await Promise.all(Array.from({ length: Math.min(500, people - from) }, (_, offset) => person(from + offset)));
  }
  await core.close();
  return { clientId: client.id, clientSecret, tokens };
}
