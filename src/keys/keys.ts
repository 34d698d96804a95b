import { record } from '../audit/audit.ts';
import type { Clock } from '../platform/clock.ts';
import { randomIdentifier } from '../platform/crypto/secrets.ts';
import type { Database, Work } from '../platform/database/database.ts';
import { SYSTEM_ORIGIN } from '../platform/validation/origin.ts';
import { ASYMMETRIC_ALGS, type AsymmetricAlg, type IdTokenAlg } from './algorithms.ts';
import { type PublicJwk, type SignJwt, signWith } from './id-tokens.ts';
import { createFirstKeyPair, maintainKeyPairs } from './key-pairs.ts';
import { isDeletable, isOffered, publishedAt, type Scheduled, signerAt } from './rules/schedule.ts';
import { keyPairContext, seal, sealingKey, signingKeyContext, unseal } from './seal.ts';
import { isRetired, maintainSigningKeys, newSigningKey } from './signing-keys.ts';
import {
  createKeySet,
  deleteKeyPairs,
  type ReadAlgorithmsInUse,
  readAlgorithmUse,
  readKeyPairs,
  readSigningKeys,
  readVersion,
  replaceSigningKeys,
  resealKeyPair,
  resealSigningKey,
} from './store.ts';
import { type TokenKey, type TokenKind, tokenKey } from './tokens.ts';

/** The keys of this process, as current as the requests need them. */
export interface Keys {
  /** The key set as this process read it last. */
  keySet(): KeySet;
  /** Reads the key set again, unless its version is this one already. */
  refresh(version: string): Promise<KeySet>;
  /** Reads the key set again if the database holds another version. */
  recheck(): Promise<KeySet>;
  /** A key set that can sign ID tokens with this algorithm; the first key of the algorithm is created here. */
  ready(alg: IdTokenAlg): Promise<KeySet>;
  /** The key pairs of the JWKS, as the database has them now: at least one of RS256 and of each algorithm that clients use. */
  published(readInUse: ReadAlgorithmsInUse): Promise<readonly IdTokenKey[]>;
}

/** All keys that are accepted, at one version of the key set. It is never changed: a new version is a new object. */
export interface KeySet {
  readonly version: string;
  /** The key that signs. */
  current(kind: TokenKind): TokenKey;
  /** The key with this id, to sign again what it signed before. */
  byKid(kind: TokenKind, kid: string): TokenKey | undefined;
  /** The key whose tokens have this header segment. */
  byHeader(kind: TokenKind, header: string): TokenKey | undefined;
  /** The key pair that signs ID tokens with an algorithm at this moment. */
  signer(alg: AsymmetricAlg, now: number): IdTokenKey | undefined;
  /** The key pair with this id, to verify what it signed before; it need not be in the JWKS any more. */
  pair(kid: string): IdTokenKey | undefined;
  /** The key pairs of the JWKS at this moment. */
  published(now: number): readonly IdTokenKey[];
}

/** Key material of access and refresh tokens. */
interface KeyMaterial {
  readonly kid: string;
  readonly material: Buffer;
  readonly retiredAt: number | null;
}

/** A key pair that is ready to sign ID tokens. */
export interface IdTokenKey extends Scheduled {
  readonly alg: AsymmetricAlg;
  readonly publicJwk: PublicJwk;
  readonly sign: SignJwt;
}

/**
 * Builds a key set. A token is ours only if its header segment equals one that we write, character for character: so
 * algorithm, type and `kid` are compared and never consulted (RFC 8725 §3.1), and no foreign header is parsed.
 * @throws when no key is current
 */
export function buildKeySet(
  version: string,
  materials: readonly KeyMaterial[],
  pairs: readonly IdTokenKey[] = [],
): KeySet {
  const current = materials.find((material) => material.retiredAt === null);
  if (current === undefined) throw new Error('the key set has no current key; run: tessera keys rotate');
  const kinds = { access: keysOf('access', materials), refresh: keysOf('refresh', materials) };
  return {
    version,
    current(kind) {
      const key = kinds[kind].byKid.get(current.kid);
      if (key === undefined) throw new Error(`no ${kind} key for ${current.kid}`);
      return key;
    },
    byKid: (kind, kid) => kinds[kind].byKid.get(kid),
    byHeader: (kind, header) => kinds[kind].byHeader.get(header),
    signer: (alg, now) => signerAt(alg, pairs, now),
    pair: (kid) => pairs.find((pair) => pair.kid === kid),
    published: (now) => publishedAt(pairs, now),
  };
}

function keysOf(kind: TokenKind, materials: readonly KeyMaterial[]) {
  const keys = materials.map(({ material, kid }) => tokenKey(material, kid, kind));
  return {
    byKid: new Map(keys.map((key) => [key.kid, key])),
    byHeader: new Map(keys.map((key) => [key.header, key])),
  };
}

/** The root secret does not decrypt the keys in the database. */
export class WrongSecret extends Error {
  override readonly name = 'WrongSecret';
  static readonly TEXT =
    'The secret does not fit this database: it does not open the signing keys. ' +
    'Give the secret that the database was made with, or, while changing it, the old one in TESSERA_SECRET_PREVIOUS.';
}

interface RootSecrets {
  readonly current: Buffer;
  readonly previous: readonly Buffer[] | undefined;
}

/** Makes the function that reads the key set of the database; undefined where there is none. It reseals what a previous root secret sealed. */
function keySetLoader(database: Database, roots: RootSecrets, clock: Clock): () => Promise<KeySet | undefined> {
  const sealing = sealingKey(roots.current);
  const previous = roots.previous?.map(sealingKey) ?? [];

  /** Decrypts a sealed key. One that the previous root secret sealed is sealed again, and stored by `replace`. */
  async function open(
    { kid, sealed }: { readonly kid: string; readonly sealed: string },
    context: string,
    replace: (params: { kid: string; before: string; sealed: string }) => Work<boolean>,
  ): Promise<Buffer> {
    const opened = unseal(sealing, sealed, context);
    if (opened !== undefined) return opened;
    const content = previous.map((key) => unseal(key, sealed, context)).find((each) => each !== undefined);
    if (content === undefined) {
      throw new WrongSecret(WrongSecret.TEXT);
    }
    const resealed = seal(sealing, content, context);
    await database.commit(function* reseal(): Work<void> {
      if (!(yield* replace({ kid, before: sealed, sealed: resealed }))) return;
      yield* record({ at: clock(), type: 'keys.resealed', origin: SYSTEM_ORIGIN, details: { kid } });
    });
    return content;
  }

  return async function load(): Promise<KeySet | undefined> {
    const { version, signingKeys, keyPairs } = await database.read(function* read() {
      const version = yield* readVersion({});
      return { version, signingKeys: yield* readSigningKeys({}), keyPairs: yield* readKeyPairs({}) };
    });
    if (version === undefined) return undefined;
    const now = clock();
    const materials: KeyMaterial[] = [];
    for (const key of signingKeys) {
      if (isRetired(key, now)) continue;
      const material = await open(key, signingKeyContext(key.kid), resealSigningKey);
      materials.push({ kid: key.kid, material, retiredAt: key.retiredAt });
    }
    const pairs: IdTokenKey[] = [];
    for (const pair of keyPairs) {
      if (isDeletable(pair, keyPairs, now)) continue;
      const { kid, alg, publicJwk } = pair;
      const privateKey = (await open(pair, keyPairContext(alg, kid), resealKeyPair)).toString('utf8');
      pairs.push({ ...pair, publicJwk: JSON.parse(publicJwk), sign: signWith(alg, kid, privateKey) });
    }
    return buildKeySet(version, materials, pairs);
  };
}

/**
 * Loads the key set, creates its first key where there is none, and reseals what a previous root secret sealed.
 * @throws {WrongSecret} when neither root secret opens a stored key
 */
export async function openKeys(database: Database, roots: RootSecrets, clock: Clock): Promise<Keys> {
  const load = keySetLoader(database, roots, clock);
  let loaded = await load();
  if (loaded === undefined) {
    const first = newSigningKey(roots.current);
    await database.commit(function* create(): Work<void> {
      const now = clock();
      if (!(yield* createKeySet(first, randomIdentifier(), now))) return;
      yield* record({ at: now, type: 'keys.created', origin: SYSTEM_ORIGIN, details: { kid: first.kid } });
    });
    loaded = await load();
  }
  if (loaded === undefined) throw new Error('the key set could not be made');
  let held: KeySet = loaded;

  async function reload(): Promise<KeySet> {
    held = (await load()) ?? held;
    return held;
  }

  async function recheck(): Promise<KeySet> {
    const version = await database.read(() => readVersion({}));
    return version === held.version ? held : reload();
  }

  /** Callers that come while the first key pair of an algorithm is being created share the same run. */
  const creating = new Map<AsymmetricAlg, Promise<void>>();
  function createFirst(alg: AsymmetricAlg): Promise<void> {
    const running = creating.get(alg);
    if (running !== undefined) return running;
    const created = createFirstKeyPair(database, roots.current, alg, clock()).finally(() => creating.delete(alg));
    creating.set(alg, created);
    return created;
  }

  /** A key set with key pairs of these algorithms. */
  async function withKeyPairs(keySet: KeySet, algs: readonly AsymmetricAlg[]): Promise<KeySet> {
    const missing = algs.filter((alg) => keySet.signer(alg, clock()) === undefined);
    if (missing.length === 0) return keySet;
    await Promise.all(missing.map(createFirst));
    return reload();
  }

  return {
    keySet: () => held,
    refresh: async (version) => (version === held.version ? held : reload()),
    recheck,
    ready: async (alg) => (alg === 'HS256' ? held : withKeyPairs(held, [alg])),
    async published(readInUse) {
      const { version, use } = await database.read(function* read() {
        return { use: yield* readAlgorithmUse(readInUse), version: yield* readVersion({}) };
      });
      const current = version === held.version ? held : await reload();
      const now = clock();
      const isShown = (alg: AsymmetricAlg): boolean => isOffered(alg, use, now);
      const keySet = await withKeyPairs(current, ASYMMETRIC_ALGS.filter(isShown));
      return keySet.published(now).filter(({ alg }) => isShown(alg));
    },
  };
}

/** The database has another version of the key set than the one in use. {@link withCurrentKeys} catches it. */
class StaleKeys extends Error {
  override readonly name = 'StaleKeys';
  readonly version: string;

  constructor(version: string) {
    super(`the database has version ${version} of the key set`);
    this.version = version;
  }
}

/**
 * Checks the version that a unit of work read together with a credential. With another version, the key that verified the
 * credential may have been dropped since, and none of it may be relied on.
 */
export function requireVersion(keySet: KeySet, version: string): void {
  if (keySet.version !== version) throw new StaleKeys(version);
}

/**
 * Runs an attempt, and runs it again with reloaded keys where {@link requireVersion} found a newer key set. An error that the
 * attempt returns is thrown here: a unit of work returns it, instead of throwing, so that what it recorded is committed.
 */
export async function withCurrentKeys<T>(keys: Keys, attempt: () => Promise<T>): Promise<Exclude<T, Error>> {
  for (;;) {
    try {
      const result = await attempt();
      if (result instanceof Error) throw result;
      return result as Exclude<T, Error>;
    } catch (error) {
      if (!(error instanceof StaleKeys)) throw error;
      await keys.refresh(error.version);
    }
  }
}

/**
 * Rotates keys that are `period` old, and deletes those that are of no more use. It is run from time to time by every process;
 * nothing depends on when.
 * @param period milliseconds; null where nothing rotates by itself
 */
export async function maintainKeys(
  database: Database,
  root: Buffer,
  now: number,
  period: number | null,
): Promise<void> {
  await maintainSigningKeys(database, root, now, period);
  await maintainKeyPairs(database, root, now, period);
}

/**
 * Part of a unit of work: replaces all keys by one new signing key, so that no token issued before verifies anywhere.
 * @param root the secret whose key seals the new one
 * @returns the new `kid`
 */
export function* replaceAllKeys(root: Buffer, now: number): Work<string> {
  const key = newSigningKey(root);
  yield* replaceSigningKeys(key, randomIdentifier(), now);
  yield* deleteKeyPairs({});
  return key.kid;
}
