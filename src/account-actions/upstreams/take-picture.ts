import { findAccount, lockAccount, saveAccount } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import type { Picture, Pictures } from '../../pictures/pictures.ts';
import { readPicture, replacePicture } from '../../pictures/store.ts';
import type { Clock } from '../../platform/clock.ts';
import { digest } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import type { Outgoing } from '../../platform/http/outgoing.ts';
import { addressFlows, type Origin } from '../../platform/validation/origin.ts';
import { recordEffect } from '../../upstreams/effect-store.ts';
import {
  findIdentityById,
  listPictureNames,
  recordIdentityPicture,
  type UpstreamIdentity,
} from '../../upstreams/identity-store.ts';
import { operatorsBehind } from '../../upstreams/operators-behind.ts';
import { whyNoPicture } from '../../upstreams/rules/picture-due.ts';
import type { UpstreamOrigin } from '../../upstreams/session-store.ts';
import { findUpstream } from '../../upstreams/store.ts';
import { whyNotVouched } from '../../upstreams/vouching.ts';
import { accountStatus } from '../../verdict/rules.ts';
import { fetchPicture, type NoPicture } from './fetch-picture.ts';

interface TakeServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly pictures: Pictures;
  readonly upstreams: { readonly outgoing: Outgoing };
}

/** Why the picture at an address is not fetched for an identity, inside a unit of work; undefined where it is. */
export function* whyNoPictureOf(
  { accountId, pictureHash, pictureAt }: Pick<UpstreamIdentity, 'accountId' | 'pictureHash' | 'pictureAt'>,
  current: string | null,
  address: string,
  now: number,
): Work<ReturnType<typeof whyNoPicture>> {
  const made = (yield* listPictureNames({ accountId })).filter((name) => name !== null);
  return whyNoPicture({ current, made, triedHash: pictureHash, triedAt: pictureAt }, digest(address), now);
}

/**
 * Gives the account of a person who has just signed in the picture that their upstream names (decisions §14). Nothing depends on it: where it
 * cannot be had, the account is left as it is, and the same address is not tried again for a day, unless this server was busy.
 * @returns why there is no picture; undefined where there is one, or none was due
 */
export async function takePicture(
  services: TakeServices,
  came: UpstreamOrigin,
  address: string,
  origin: Origin,
): Promise<NoPicture | undefined> {
  const { database, clock, pictures, upstreams } = services;
  const { upstreamId, identityId } = came;
  const due = await database.read(function* look() {
    const upstream = yield* findUpstream({ id: upstreamId });
    const identity = yield* findIdentityById({ id: identityId });
    const account = identity && (yield* findAccount({ id: identity.accountId }));
    if (upstream === undefined || identity === undefined || account === undefined) return undefined;
    const why = yield* whyNoPictureOf(identity, account.profile.picture, address, clock());
    return why === undefined ? { accountId: account.id, issuer: upstream.issuer } : undefined;
  });
  if (due === undefined) return undefined;
  const { accountId, issuer } = due;
  const flows = [...addressFlows(origin), `account ${accountId}`];
  const found = await fetchPicture({ outgoing: upstreams.outgoing, pictures }, { issuer, address, flows });
  if ('problem' in found && found.isBusy) return found;
  const now = clock();
  await database.commit(function* take(): Work<void> {
    const account = yield* lockAccount({ id: accountId });
    const identity = yield* findIdentityById({ id: identityId });
    // Meanwhile the person may have set one, disconnected the identity or asked for deletion, and an operator barred them, disabled the
    // upstream, or taken pictures off its map.
    if (account === undefined || identity?.accountId !== accountId) return;
    if (accountStatus(account, now) !== 'active' || account.deletionDueAt !== null) return;
    if ((yield* whyNotVouched(came, now)) !== undefined) return;
    const upstream = yield* findUpstream({ id: upstreamId });
    if (upstream?.claimsMap.picture === undefined) return;
    const { profile } = account;
    if ((yield* whyNoPictureOf(identity, profile.picture, address, now)) !== undefined) return;
    const tried = { id: identityId, hash: digest(address), at: now };
    const isSame = 'problem' in found || (yield* isCurrent(profile.picture, found));
    if (isSame) return yield* recordIdentityPicture({ ...tried, name: identity.pictureName });
    yield* recordIdentityPicture({ ...tried, name: found.name });
    yield* saveAccount({
      ...account,
      profile: { ...profile, picture: found.name },
      updatedAt: Math.max(now, account.updatedAt),
    });
    yield* replacePicture({ accountId }, found);
    const behind = yield* operatorsBehind(upstream, { by: 'claims', fields: ['picture'] });
    yield* recordEffect(behind, accountId, 'written');
    const details = { fields: ['picture'], upstreamId };
    yield* record({ at: now, type: 'account.updated', origin, accountId, details });
  });
  return 'problem' in found ? found : undefined;
}

/** Whether it has the pixels of the present picture. */
function* isCurrent(name: string | null, { bytes }: Picture): Work<boolean> {
  const current = name === null ? undefined : yield* readPicture({ name });
  return current !== undefined && Buffer.compare(current, bytes) === 0;
}
