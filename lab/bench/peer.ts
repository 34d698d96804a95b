import { once } from 'node:events';
import { join } from 'node:path';
import type { Answer } from './load.ts';
import { accessTokenOf, type PeerOrder, peerClient, refreshTokenOf, sessionOf } from './peer-people.ts';
import { pack } from './requests.ts';
import { authorizationQuery, CLIENTS, REDIRECT_URI, spread } from './setting.ts';
import { atRandom, codeIn, forkProgram, get, member, post, type Subject } from './subject.ts';
import { PEER, PEER_SQLITE } from './work-names.ts';

interface PeerOptions {
  readonly folder: string;
  /** The file of its database; in memory, if there is none. */
  readonly database: string | undefined;
  /** The length of its token responses. */
  readonly tokenAnswerBytes: number;
}

/** Starts node-oidc-provider with its own users. */
export async function startPeer(people: number, { folder, database, tokenAnswerBytes }: PeerOptions): Promise<Subject> {
  const started = await forkProgram('./peer-server.ts', {
    log: join(folder, `peer-${people}.log`),
    // On a free port.
    args: ['0', ...(database === undefined ? [] : [database])],
    execArgv: ['--max-old-space-size=12000'],
  });
  const { process: child, port } = started;
  async function order(what: PeerOrder): Promise<void> {
    const answer = once(child, 'message');
    child.send(what);
    const [{ error }] = (await answer) as [{ error?: string }];
    if (error !== undefined) throw new Error(`the peer failed: ${error}`);
  }

  await order({ kind: 'seed', people, tokenAnswerBytes });
  const { sample, sessions, numberOf } = spread(people);
  const refreshTokens = new Map<number, string>();
  let sets = 0;
  const token = (person: number, grant: Record<string, string>) => {
    const { id, secret } = peerClient(numberOf(person) % CLIENTS);
    const form = new URLSearchParams({ ...grant, client_id: id, client_secret: secret }).toString();
    return post('/token', 'application/x-www-form-urlencoded', form);
  };

  return {
    name: database === undefined ? PEER : PEER_SQLITE,
    process: child,
    port,
    people,
    processes: 1,
    stateless: false,
    sample,
    sessions,
    async userInfo(count) {
      const set = ++sets;
      await order({ kind: 'tokens', set, count });
      const request = (index: number) => get('/userinfo', `Authorization: Bearer ${accessTokenOf(set, index)}`);
      return pack(atRandom(count, count).values().map(request));
    },
    refresh: (person) =>
      token(person, {
        grant_type: 'refresh_token',
        refresh_token: refreshTokens.get(person) ?? refreshTokenOf(numberOf(person)),
      }),
    refreshed(person: number, { status, body }: Answer) {
      const next = member(body, 'refresh_token');
      if (next !== undefined) refreshTokens.set(person, next);
      return status === 200 && next !== undefined;
    },
    authorize: (person) =>
      get(
        `/authorize?${authorizationQuery(peerClient(numberOf(person) % CLIENTS).id)}`,
        `Cookie: _session=${sessionOf(person)}`,
      ),
    exchange(person, answer) {
      const code = codeIn(answer);
      if (code === undefined) return undefined;
      return token(person, { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI });
    },
  };
}
