import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Account } from '../../accounts/store.ts';
import { record } from '../../audit/audit.ts';
import type { Sealer } from '../../keys/sealer.ts';
import { take } from '../../limits/limits.ts';
import type { Limits } from '../../limits/settings.ts';
import { DAY } from '../../platform/clock.ts';
import { randomName } from '../../platform/crypto/secrets.ts';
import type { Database, Work } from '../../platform/database/database.ts';
import { conflict } from '../../platform/failure.ts';
import type { Origin } from '../../platform/validation/origin.ts';
import { type SessionServices, sessionDatabase } from '../../sessions/sessions.ts';
import type { Session } from '../../sessions/store.ts';
import { accountTime } from '../notices/account-time.ts';
import { enqueueSecurityNotice, type SecurityNoticeServices } from '../notices/notices.ts';
import { deviceFacts } from '../notices/rules/notice-text.ts';
import { EXPORT_SECTIONS } from './export-sections.ts';
import {
  type DataExport,
  findExport,
  listPieces,
  removeEndedExports,
  removeExportsBefore,
  replaceExport,
} from './export-store.ts';

/** How long after the request an export can be downloaded. */
export const EXPORT_LIFETIME = DAY;

/** What is stored of an export opens only in its own place. */
export const pieceContext = (exportId: string, number: number): string => `export ${exportId} ${number}`;

/** A signed-in person who takes their data along. */
interface ExportVisit {
  readonly account: Account;
  readonly session: Session;
  readonly origin: Origin;
}

/** Whether an export is one of the account as it is now. */
const isCurrent = ({ generation, createdAt }: DataExport, account: Account, now: number): boolean =>
  generation === account.generation && createdAt + EXPORT_LIFETIME > now;

/** The export of an account: what is being made, or can be downloaded. */
export function* currentExport(account: Account, now: number): Work<DataExport | undefined> {
  const found = yield* findExport({ accountId: account.id });
  return found !== undefined && isCurrent(found, account, now) ? found : undefined;
}

/**
 * Asks for an export, which is then made in the background. One that is ready is replaced; while one is being made, this does nothing.
 * The person is told by mail, with a link to report that it was not them.
 * @returns 0, or the seconds until one may be asked for again
 * @throws {SessionEnded} where the session ended meanwhile
 */
export function requestExport(
  services: SessionServices & SecurityNoticeServices & { readonly limits: Limits },
  { account, session, origin }: ExportVisit,
): Promise<number> {
  const accountId = account.id;
  const now = services.clock();
  return sessionDatabase(services, session).commit(function* request(): Work<number> {
    if ((yield* currentExport(account, now))?.state === 'waiting') return 0;
    const about = { name: 'exportAccount', origin, accountId } as const;
    const wait = yield* take(`export ${accountId}`, services.limits.exportAccount, now, about);
    if (wait > 0) return wait;
    yield* replaceExport({ accountId, id: randomName(), generation: session.generation, now });
    yield* record({ at: now, type: 'export.requested', origin, accountId });
    const at = yield* accountTime(account, now);
    yield* enqueueSecurityNotice(services, account, 'export requested', deviceFacts(session), now, at);
    return 0;
  });
}

/** How many pieces one read gets: few enough that other requests do not wait for it. */
const BATCH = 4;

/**
 * Reads an export that is ready, as the bytes of a JSON document, and records that it was downloaded.
 * @throws {SessionEnded} where the session ended meanwhile
 * @throws {Failure} `conflict` where there is none
 */
export async function downloadExport(
  services: SessionServices & { readonly sealer: Sealer },
  { account, session, origin }: ExportVisit,
): Promise<Buffer> {
  const { database, clock, sealer } = services;
  const accountId = account.id;
  const found = await database.read(() => currentExport(account, clock()));
  if (found?.state !== 'ready') throw notReady();
  const texts: string[] = [];
  while (texts.length < found.pieces) {
    const from = texts.length;
    const sealed = await database.read(() => listPieces({ accountId, from, limit: BATCH }));
    const opened = sealed.map((piece, index) => sealer.open(piece, pieceContext(found.id, from + index)));
    // It was replaced or removed meanwhile.
    if (opened.length === 0) throw notReady();
    for (const text of opened) {
      if (text === undefined) throw notReady();
      texts.push(text);
    }
    await nextTurn();
  }
  const body = compose(found, texts);
  const now = clock();
  await sessionDatabase(services, session).commit(function* check(): Work<void> {
    if ((yield* currentExport(account, now))?.id !== found.id) throw notReady();
    yield* record({ at: now, type: 'export.downloaded', origin, accountId, details: { file: 'data' } });
  });
  return body;
}

const notReady = () => conflict('There is no export to download. Ask for a new one.');

/** Joins the pieces to one document: sections first, then the events. */
function compose({ createdAt, lastEvent }: DataExport, texts: readonly string[]): Buffer {
  const sections = texts.slice(0, EXPORT_SECTIONS.length);
  const events = texts.slice(EXPORT_SECTIONS.length).filter((text) => text !== '');
  const activity = `"activity": {\n"complete": ${lastEvent === null},\n"events": [\n`;
  const parts = [
    `{\n"exportedAt": "${new Date(createdAt).toISOString()}",\n`,
    ...sections.map((text) => `${text},\n`),
    activity,
    ...events.flatMap((text, index) => (index === 0 ? [text] : [',\n', text])),
    '\n]\n}\n}\n',
  ];
  return Buffer.concat(parts.map((part) => Buffer.from(part, 'utf8')));
}

/** How many exports one unit of work removes, each with its pieces. */
const REMOVED_AT_ONCE = 20;

/** Removes what has expired, or ended with the generation of its account. Any node may do so, as often as it likes. */
export async function maintainExports(database: Database, now: number): Promise<void> {
  const before = now - EXPORT_LIFETIME;
  const removeExpired = () => removeExportsBefore({ before, limit: REMOVED_AT_ONCE });
  while ((await database.commit(removeExpired)).length === REMOVED_AT_ONCE);
  await database.commit(() => removeEndedExports({ since: before }));
}
