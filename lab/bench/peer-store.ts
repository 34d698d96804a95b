import { DatabaseSync } from 'node:sqlite';

/** Where node-oidc-provider keeps its data, in the form that it asks for: https://github.com/panva/node-oidc-provider/blob/main/example/my_adapter.js */

export type Payload = Record<string, unknown>;

interface Adapter {
  upsert(id: string, payload: Payload, expiresIn: number): Promise<void>;
  find(id: string): Promise<Payload | undefined>;
  findByUid(uid: string): Promise<Payload | undefined>;
  findByUserCode(): Promise<undefined>;
  consume(id: string): Promise<void>;
  destroy(id: string): Promise<void>;
  revokeByGrantId(grantId: string): Promise<void>;
}

interface PeerStore {
  /** One instance for each model. */
  readonly adapter: new (
    model: string,
  ) => Adapter;
  /** Any entry of a model. */
  first(model: string): Payload | undefined;
  /** Fills the store without waiting for the disk at each entry. */
  atOnce(fill: () => Promise<void>): Promise<void>;
}

const now = (): number => Math.floor(Date.now() / 1000);

/** The bundled adapter keeps only the last thousand entries; this one keeps everything in plain maps, which is its best case. */
export function memoryStore(): PeerStore {
  interface Model {
    readonly entries: Map<string, Payload>;
    readonly byGrant: Map<string, string[]>;
    readonly byUid: Map<string, string>;
  }
  const models = new Map<string, Model>();

  class Memory implements Adapter {
    readonly #model: Model;

    constructor(name: string) {
      const made = models.get(name) ?? { entries: new Map(), byGrant: new Map(), byUid: new Map() };
      models.set(name, made);
      this.#model = made;
    }

    async upsert(id: string, payload: Payload): Promise<void> {
      const { entries, byGrant, byUid } = this.#model;
      entries.set(id, payload);
      const { grantId, uid } = payload;
      if (typeof uid === 'string') byUid.set(uid, id);
      if (typeof grantId !== 'string') return;
      const members = byGrant.get(grantId);
      if (members === undefined) byGrant.set(grantId, [id]);
      else members.push(id);
    }

    async find(id: string): Promise<Payload | undefined> {
      return this.#model.entries.get(id);
    }

    async findByUid(uid: string): Promise<Payload | undefined> {
      return this.find(this.#model.byUid.get(uid) ?? '');
    }

    async findByUserCode(): Promise<undefined> {}

    async consume(id: string): Promise<void> {
      const payload = this.#model.entries.get(id);
      if (payload !== undefined) payload['consumed'] = now();
    }

    async destroy(id: string): Promise<void> {
      this.#model.entries.delete(id);
    }

    async revokeByGrantId(grantId: string): Promise<void> {
      const { entries, byGrant } = this.#model;
      for (const id of byGrant.get(grantId) ?? []) entries.delete(id);
      byGrant.delete(grantId);
    }
  }

  return {
    adapter: Memory,
    first: (model) => models.get(model)?.entries.values().next().value,
    atOnce: (fill) => fill(),
  };
}

/**
 * One table with JSON, as in the adapters that the library's documentation lists, and as durable as Tessera: a write-ahead log, on disk
 * before an operation is confirmed. The statements are prepared. The library has no transactions, so each operation is a commit.
 */
export function sqliteStore(file: string): PeerStore {
  const database = new DatabaseSync(file);
  database.exec(`
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE entry (
      model TEXT NOT NULL,
      id TEXT NOT NULL,
      payload TEXT NOT NULL,
      grant_id TEXT,
      uid TEXT,
      expires_at INTEGER NOT NULL,
      consumed_at INTEGER,
      PRIMARY KEY (model, id)
    );
    CREATE INDEX entry_grant ON entry (grant_id) WHERE grant_id IS NOT NULL;
    CREATE INDEX entry_uid ON entry (uid) WHERE uid IS NOT NULL;
  `);
  const upsert = database.prepare(`
    INSERT INTO entry (model, id, payload, grant_id, uid, expires_at) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (model, id) DO UPDATE SET payload = excluded.payload, grant_id = excluded.grant_id, uid = excluded.uid,
      expires_at = excluded.expires_at`);
  const found = 'SELECT payload, consumed_at FROM entry WHERE model = ?';
  const find = database.prepare(`${found} AND id = ? AND expires_at > ?`);
  const findByUid = database.prepare(`${found} AND uid = ? AND expires_at > ?`);
  const findAny = database.prepare(`${found} LIMIT 1`);
  const consume = database.prepare('UPDATE entry SET consumed_at = ? WHERE model = ? AND id = ?');
  const destroy = database.prepare('DELETE FROM entry WHERE model = ? AND id = ?');
  const revoke = database.prepare('DELETE FROM entry WHERE model = ? AND grant_id = ?');

  function payloadOf(row: Record<string, unknown> | undefined): Payload | undefined {
    if (row === undefined) return undefined;
    const consumed = row['consumed_at'] === null ? {} : { consumed: row['consumed_at'] };
    return { ...(JSON.parse(String(row['payload'])) as Payload), ...consumed };
  }
  const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

  class Sqlite implements Adapter {
    readonly #model: string;

    constructor(model: string) {
      this.#model = model;
    }

    async upsert(id: string, payload: Payload, expiresIn: number): Promise<void> {
      const [grantId, uid] = [textOf(payload['grantId']), textOf(payload['uid'])];
      upsert.run(this.#model, id, JSON.stringify(payload), grantId, uid, now() + expiresIn);
    }

    async find(id: string): Promise<Payload | undefined> {
      return payloadOf(find.get(this.#model, id, now()));
    }

    async findByUid(uid: string): Promise<Payload | undefined> {
      return payloadOf(findByUid.get(this.#model, uid, now()));
    }

    async findByUserCode(): Promise<undefined> {}

    async consume(id: string): Promise<void> {
      consume.run(now(), this.#model, id);
    }

    async destroy(id: string): Promise<void> {
      destroy.run(this.#model, id);
    }

    async revokeByGrantId(grantId: string): Promise<void> {
      revoke.run(this.#model, grantId);
    }
  }

  return {
    adapter: Sqlite,
    first: (model) => payloadOf(findAny.get(model)),
    async atOnce(fill) {
      database.exec('BEGIN');
      try {
        await fill();
      } finally {
        database.exec('COMMIT');
      }
    },
  };
}
