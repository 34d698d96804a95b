import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Account, findAccount, lockAccount } from '../../accounts/store.ts';
import { listActivity, NEWEST_ACTIVITY } from '../../audit/activity-store.ts';
import type { Sealer } from '../../keys/sealer.ts';
import { mailTexts } from '../../mail/messages.ts';
import { type Clock, SECOND } from '../../platform/clock.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { startPoller } from '../../platform/poller.ts';
import { accountStatus } from '../../verdict/rules.ts';
import { canReceiveMail, type SecurityNoticeServices } from '../notices/notices.ts';
import { EXPORT_LIFETIME, pieceContext } from './export.ts';
import { activityView, EXPORT_SECTIONS } from './export-sections.ts';
import {
  advanceExport,
  claimExport,
  type DataExport,
  insertPiece,
  isExportDue,
  markExportFailed,
  removeExport,
} from './export-store.ts';

/** The path of the page where exports are asked for and downloaded. */
export const EXPORT_PATH = '/account/data/export';

/** How long a claim holds: longer than one piece takes. */
const CLAIM_LIFETIME = 30 * SECOND;
const INTERVAL = SECOND;
/** How often a piece is begun before the export is given up. */
const MAX_ATTEMPTS = 5;

/** How many events one piece holds: few enough that making it does not block other requests. */
const EVENTS_AT_ONCE = 100;
/** Older events are left out, and the export says so. */
const MAX_EVENTS = 5_000;
/** An export is not larger than about this, in bytes. */
const MAX_BYTES = 2 * 1024 * 1024;

interface ExportDispatcherServices extends SecurityNoticeServices {
  readonly database: Database;
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** Is given internal errors and failures of the database. The export concerned becomes due again. */
  failed(error: unknown): void;
}

/** Makes the exports that people asked for, of whichever node. */
export interface ExportDispatcher {
  /** Makes those that wait now. */
  makeWaiting(): Promise<void>;
  /** Finishes the piece that is being made, and begins no other. */
  stop(): Promise<void>;
}

/** A piece of an export, and what is known after it. */
type Piece = Pick<DataExport, 'events' | 'lastEvent'> & { readonly text: string; readonly isLast: boolean };

/**
 * Starts looking for exports that wait. Each is made in pieces, every one in a commit, so that another node goes on where one stopped.
 * @param interval how often, in milliseconds
 */
export function startExportDispatcher(services: ExportDispatcherServices, interval = INTERVAL): ExportDispatcher {
  const { database, clock, failed } = services;
  let isStopping = false;

  async function makeAll(): Promise<void> {
    while (!isStopping) {
      const now = clock();
      if ((await database.read(() => isExportDue({ now }))) === undefined) return;
      const claimed = await database.commit(() => claimExport({ now, until: now + CLAIM_LIFETIME }));
      if (claimed === undefined) return;
      // The next one does not wait for an export that cannot be made.
      await makeOne(claimed).catch(failed);
    }
  }

  async function makeOne(claimed: DataExport): Promise<void> {
    if (claimed.attempts > MAX_ATTEMPTS) return database.commit(() => markExportFailed(claimed));
    for (let current: DataExport | undefined = claimed; current?.state === 'waiting' && !isStopping; ) {
      current = await makePiece(services, current);
      await nextTurn();
    }
  }

  const poller = startPoller(makeAll, interval, failed);
  return {
    makeWaiting: () => poller.poll(),
    stop() {
      isStopping = true;
      return poller.stop();
    },
  };
}

/** The account of an export, as it is now; undefined where the export ended with an earlier generation. */
function* findExported({ accountId, generation }: DataExport, find = findAccount): Work<Account | undefined> {
  const account = yield* find({ id: accountId });
  return account?.generation === generation ? account : undefined;
}

/** Makes the next piece. @returns the export with it; undefined where it ended, or another process goes on with it */
async function makePiece(services: ExportDispatcherServices, current: DataExport): Promise<DataExport | undefined> {
  const { database, clock, sealer, mail, issuer } = services;
  const { accountId, id } = current;
  const account = await database.read(() => findExported(current));
  const piece = account && (await readPiece(services, current, account));
  const now = clock();
  return database.commit(function* write(): Work<DataExport | undefined> {
    const locked = yield* findExported(current, lockAccount);
    if (piece === undefined || locked === undefined || accountStatus(locked, now) !== 'active') {
      yield* removeExport({ accountId, id });
      return undefined;
    }
    const { text, isLast, events, lastEvent } = piece;
    const bytes = current.bytes + Buffer.byteLength(text);
    const next = { ...current, state: isLast ? 'ready' : 'waiting', events, lastEvent, bytes, attempts: 1 } as const;
    if (!(yield* advanceExport({ ...next, until: now + CLAIM_LIFETIME }))) return undefined;
    const sealed = sealer.seal(text, pieceContext(id, current.pieces));
    yield* insertPiece({ accountId, number: current.pieces, sealed });
    if (isLast && canReceiveMail(locked.profile.email)) {
      const expiresAt = current.createdAt + EXPORT_LIFETIME;
      const { username, email } = locked.profile;
      const content = mailTexts.personalData.exportReady({ username, until: expiresAt, url: issuer + EXPORT_PATH });
      yield* mail.enqueue({ to: email, accountId, kind: 'export ready', content, expiresAt }, now);
    }
    return { ...next, pieces: current.pieces + 1 };
  });
}

async function readPiece(
  services: ExportDispatcherServices,
  { accountId, pieces, events, lastEvent, bytes }: DataExport,
  account: Account,
): Promise<Piece> {
  const section = EXPORT_SECTIONS[pieces];
  if (section !== undefined) {
    const value = await section.read(services, account);
    const text = `${JSON.stringify(section.name)}: ${JSON.stringify(value, null, 2)}`;
    return { text, events, lastEvent, isLast: false };
  }
  const before = lastEvent ?? NEWEST_ACTIVITY;
  const found = await services.database.read(() => listActivity({ accountId, before, limit: EVENTS_AT_ONCE + 1 }));
  const shown = found.slice(0, EVENTS_AT_ONCE);
  const text = shown.map((event) => JSON.stringify(activityView(event))).join(',\n');
  const count = events + shown.length;
  const hasMore = found.length > shown.length;
  const isFull = count >= MAX_EVENTS || bytes + Buffer.byteLength(text) >= MAX_BYTES;
  return { text, events: count, lastEvent: hasMore ? (shown.at(-1)?.id ?? null) : null, isLast: !hasMore || isFull };
}
