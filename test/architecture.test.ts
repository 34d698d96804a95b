// store: none
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fieldsOfEveryLine, logFields, logLines } from '../src/platform/log.ts';
import { FILES, found, needOf } from './runner/plan.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

interface Source {
  /** From the root of the repository, such as `src/protocol/token/grant.ts`. */
  readonly path: string;
  readonly text: string;
  /** The code without its comments. */
  readonly code: string;
  readonly imports: readonly { readonly target: string; readonly typeOnly: boolean }[];
}

function read(path: string): Source {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const code = text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
  const imports = [...code.matchAll(/(?:^|\n)(import|export)( type)?\b[^;'"]*?from '([^']+)'|\bimport\('([^']+)'\)/g)];
  return {
    path,
    text,
    code,
    imports: imports.map(([, , type, from, dynamic]) => {
      const target = from ?? dynamic ?? '';
      return {
        target: target.startsWith('.') ? posix.join(posix.dirname(path), target) : target,
        typeOnly: type !== undefined,
      };
    }),
  };
}

const sources: readonly Source[] = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  .map((name) => read(`src/${name.split('\\').join('/')}`));
const isStore = (path: string): boolean => /\/([a-z-]+-)?store\.ts$/.test(path);

/** The folders, each of which imports only from itself and from those before it. */
const ORDER = [
  'platform',
  'platform/crypto',
  'platform/database',
  'platform/ids',
  'platform/validation',
  'platform/config',
  'platform/http',
  'platform/mail',
  'platform/metrics',
  'platform/telemetry',
  'migrations',
  'audit',
  'traces',
  'limits',
  'keys',
  'pictures',
  'verdict',
  'accounts',
  'operators',
  'admin-keys',
  'mail',
  'organizations',
  'invitations',
  'groups',
  'access',
  'claims',
  'clients',
  'upstreams',
  'authenticators',
  'sessions',
  'credentials',
  'consent',
  'account-actions/notices',
  'account-actions/accounts',
  'account-actions/authentication',
  'account-actions/access',
  'account-actions/operators',
  'account-actions/organizations',
  'account-actions/sign-in',
  'account-actions/factors',
  'account-actions/upstreams',
  'account-actions/connections',
  'account-actions/makers',
  'account-actions/personal-data',
  'account-actions/recovery',
  'account-actions/addresses',
  'account-actions/invitations',
  'account-actions/support',
  'account-actions/setup',
  'account-actions/admission',
  'account-actions/scope-requests',
  'account-actions/bulk',
  'protocol/refusals',
  'protocol/client-metadata',
  'protocol/client-authentication',
  'protocol/token',
  'protocol/authorize',
  'protocol/device',
  'protocol/userinfo',
  'protocol/preview',
  'protocol/logout',
  'protocol/registration',
  'protocol/discovery',
  'protocol/upstreams',
  'pages',
  'web/browser',
  'web/authorize',
  'web/sign-out',
  'web/sign-in',
  'web/upstreams',
  'web/setup',
  'web/addresses',
  'web/recovery',
  'web/consent',
  'web/device',
  'web/account',
  'web/pictures',
  'web/home',
  'web/mailbox',
  'web/playground',
  'admin',
  'console',
  'openapi',
  'settings',
  'operations/health',
  'operations/housekeeping',
  'operations/doctor',
  'operations/backup',
  // core.ts, embedded.ts, domains.ts, background.ts and app.ts
  '',
  'cli',
] as const;

/** The folder of a source, such as `accounts` or `platform/http`. */
function domainOf(path: string): string {
  const [, first = '', second = '', ...rest] = path.split('/');
  if (second === '') return '';
  const isGroup = ['platform', 'account-actions', 'protocol', 'web', 'operations'].includes(first);
  return isGroup && rest.length > 0 ? `${first}/${second}` : first;
}

/** What a source reads of tables that belong to another domain: the joins of the verdict, and lists for people. */
const FOREIGN_READS: Readonly<Record<string, readonly string[]>> = {
  'account-actions/bulk': ['account'],
  // What was made through an account, in each table that names who made something, and the names of what was made.
  'account-actions/makers': [
    ...['account', 'account_act', 'account_opening', 'admin_key', 'app_assignment', 'blocked_client_domain', 'client'],
    ...[
      'client_act',
      'given_right',
      'group_member',
      'initial_access_token',
      'invitation',
      'membership',
      'operator_grant',
    ],
    ...[
      'organization',
      'right_change',
      'setting_change',
      'unblocked_client_domain',
      'upstream',
      'upstream_act',
      'upstream_effect',
      'user_group',
    ],
  ],
  'account-actions/personal-data': ['account'],
  access: ['account', 'client', 'group_member', 'membership', 'organization', 'user_group'],
  audit: ['client'],
  clients: ['account'],
  consent: ['account', 'client', 'token_family'],
  credentials: ['account', 'app_assignment', 'client', 'consent_grant', 'key_set'],
  groups: ['account', 'app_assignment', 'organization'],
  invitations: ['account', 'membership'],
  mail: ['account', 'address_change', 'invitation'],
  organizations: ['account'],
  sessions: ['account', 'client', 'consent_grant', 'token_family', 'upstream_session'],
  traces: ['account', 'client'],
  upstreams: ['account', 'group_member', 'organization'],
};

test('the sources are read', () => {
  assert.ok(sources.length > 80);
  assert.ok(sources.some(({ imports }) => imports.some(({ typeOnly }) => typeOnly)));
  for (const { path, imports } of sources) {
    for (const { target } of imports) {
      if (target.startsWith('src/'))
        assert.ok(
          sources.some((source) => source.path === target),
          `${path} → ${target}`,
        );
    }
  }
});

// "No clock, no randomness, no store, no HTTP in them; `now` is a parameter." A digest is a function of its input.
const UNRULY = /\b(Date\.now|Math\.random|performance\.now|randomBytes|randomUUID|process\.|fetch\(|setTimeout|await )/;
for (const source of sources.filter(({ path }) => path.includes('/rules/') || path.endsWith('/rules.ts'))) {
  test(`${source.path} decides on plain data alone`, () => {
    assert.doesNotMatch(source.code, UNRULY);
    assert.doesNotMatch(source.code, /new Date\(\)/);
    for (const { target, typeOnly } of source.imports) {
      // The shape of what was read may be named; what reads it may not be called.
      if (typeOnly) continue;
      assert.ok(!isStore(target), target);
      assert.doesNotMatch(
        target,
        /^node:(?!crypto$)|^(fastify|kysely)|^src\/platform\/(database|http)\/|\/(routes|pages)\.ts$/,
      );
    }
  });
}

/** Where a table is written, by which kind of statement. */
function writers(): Map<string, { path: string; verb: string }[]> {
  const found = new Map<string, { path: string; verb: string }[]>();
  for (const { path, code } of sources) {
    for (const [, verb = '', table = ''] of code.matchAll(/\b(insertInto|updateTable|deleteFrom)\('(\w+)'\)/g)) {
      found.set(table, [...(found.get(table) ?? []), { path, verb }]);
    }
  }
  return found;
}

test('a folder imports only from those before it, types included', () => {
  const rank = (path: string): number => ORDER.indexOf(domainOf(path) as (typeof ORDER)[number]);
  for (const { path, imports } of sources) {
    assert.notEqual(rank(path), -1, `${path} is in no folder of the order`);
    for (const { target } of imports) {
      if (target.startsWith('src/')) assert.ok(rank(target) <= rank(path), `${path} → ${target}`);
    }
  }
  assert.deepEqual(
    ORDER.filter((folder) => !sources.some(({ path }) => domainOf(path) === folder)),
    [],
    'every folder of the order is there',
  );
});

test('the tables of another domain are read where that is declared, and by housekeeping', () => {
  const owners = new Map(
    [...writers()].map(([table, places]) => [table, new Set(places.map(({ path }) => domainOf(path)))]),
  );
  const found = new Map<string, Set<string>>();
  for (const { path, code } of sources) {
    const domain = domainOf(path);
    if (domain === 'platform/database' || domain === 'operations/housekeeping') continue;
    for (const [, table = ''] of code.matchAll(/\b(?:selectFrom|innerJoin|leftJoin|from)\(\s*'(\w+)(?: as \w+)?'/g)) {
      if (owners.get(table)?.has(domain) ?? true) continue;
      found.set(domain, (found.get(domain) ?? new Set()).add(table));
    }
  }
  const reads = Object.fromEntries([...found].sort().map(([domain, tables]) => [domain, [...tables].sort()]));
  assert.deepEqual(reads, FOREIGN_READS);
});

/** The tables, and the folder that declares each. */
function declaredTables(): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { path, code } of sources) {
    const [, members = ''] = /\n *(?:export )?interface Tables \{\n([^}]*)\}/.exec(code) ?? [];
    for (const [, table = ''] of members.matchAll(/^ *(\w+): \w+;$/gm)) {
      assert.ok(!found.has(table), `${table} is declared twice`);
      found.set(table, domainOf(path));
    }
  }
  return found;
}

test('a table is written by the domain that declares it; housekeeping may delete what has ended', () => {
  const tables = writers();
  const declared = declaredTables();
  assert.ok(tables.size > 10);
  for (const [table, places] of tables) {
    const own = places.filter(
      ({ path, verb }) => !(domainOf(path) === 'operations/housekeeping' && verb === 'deleteFrom'),
    );
    const expected = declared.get(table) ?? assert.fail(`${table} is declared nowhere`);
    for (const { path, verb } of own) assert.equal(domainOf(path), expected, `${path}: ${verb} ${table}`);
  }
});

test('an account is inserted in one place, which asks everything that has to be asked of a new one', () => {
  const users = sources.filter(({ code }) => /\binsertAccount\b|\binsertInto\('account'\)/.test(code));
  assert.deepEqual(users.map(({ path }) => path).sort(), [
    'src/account-actions/accounts/create-account.ts',
    'src/accounts/store.ts',
  ]);
});

test('statements stand in the stores of their domains', () => {
  // Small domains that are nothing but a store, and the probe of the health check.
  const also = [
    'audit/audit.ts',
    'audit/search-store.ts',
    'limits/limits.ts',
    'operations/housekeeping/housekeeping.ts',
    'operations/health/readiness.ts',
  ];
  for (const { path, code } of sources) {
    if (isStore(path) || path.startsWith('src/platform/database/') || also.some((name) => path === `src/${name}`))
      continue;
    assert.doesNotMatch(
      code,
      /\b(statement|one|many|command|changes)\(\(|\b(insertInto|updateTable|deleteFrom|selectFrom)\(/,
      path,
    );
  }
});

test('a statement names its columns: a newer node may add one while this one runs', () => {
  for (const { path, code } of sources) assert.doesNotMatch(code, /\b(selectAll|returningAll)\b/, path);
});

test('no SQL is put together from values: a template holds placeholders and names of columns', () => {
  for (const { path, code } of sources.filter(({ path }) => !path.startsWith('src/platform/database/'))) {
    assert.doesNotMatch(code, /\bsql\.(raw|lit|id|table)\b/, path);
  }
});

test('what differs between databases lives in their folders, which only the composition reaches', () => {
  for (const { path, code, imports } of sources) {
    const dialect = /^src\/platform\/database\/(sqlite|postgres)\//;
    if (dialect.test(path)) continue;
    assert.doesNotMatch(code, /\bif \(dialect\b|\bnode:sqlite\b/, path);
    const reached = imports.filter(({ target }) => dialect.test(target)).map(({ target }) => target);
    if (!['src/core.ts', 'src/embedded.ts'].includes(path)) assert.deepEqual(reached, [], path);
  }
});

test('rows are locked by what the dialects know: what one database lacks is written for the other alone', () => {
  const locks = /\.(for(Update|NoKeyUpdate|Share|KeyShare)|skipLocked|noWait|modifyEnd|modifyFront|distinctOn)\(/;
  const clauses =
    /\bfor (no key update|key share|update|share)\b|\bskip locked\b|\bnowait\b|\bilike\b|\bdistinct on\b/i;
  for (const { path, code } of sources) {
    if (path.startsWith('src/platform/database/')) continue;
    assert.doesNotMatch(code, locks, path);
    // In a template of SQL.
    for (const [, text = ''] of code.matchAll(/\bsql(?:<[^>]*>)?`([^`]*)`/g)) assert.doesNotMatch(text, clauses, path);
  }
});

test('only the configuration reads the environment', () => {
  const readers = sources.filter(({ code }) => /\bprocess\.env\b/.test(code)).map(({ path }) => path);
  assert.deepEqual(
    readers.filter((path) => !path.startsWith('src/platform/config/')),
    ['src/cli/session.ts'],
  );
});

test('log lines are written in one place, which documents their fields, and each documented line is written', () => {
  const writers = sources.filter(({ code }) => /\blog(ger)?(\.(trace|debug|info|warn|error|fatal)\b|\[)/.test(code));
  assert.deepEqual(
    writers.map(({ path }) => path),
    ['src/platform/log.ts'],
  );
  const consoles = sources.filter(({ code }) => /\bconsole\.|\bprocess\.(stdout|stderr)\b/.test(code));
  assert.deepEqual(
    consoles.map(({ path }) => path).filter((path) => !path.startsWith('src/cli/')),
    [],
  );
  const others = sources.filter(({ path }) => path !== 'src/platform/log.ts');
  for (const message of Object.keys(logLines)) {
    assert.ok(
      others.some(({ code }) => code.includes(`'${message}'`)),
      message,
    );
  }
  const used = new Set<string>([...fieldsOfEveryLine, ...Object.values(logLines).flatMap(({ fields }) => fields)]);
  assert.deepEqual([...used].sort(), Object.keys(logFields).sort());
});

test('the clock is injected: it is read where processes begin, and nowhere else', () => {
  const readers = sources.filter(({ code }) => /\bDate\.now\b|new Date\(\)/.test(code)).map(({ path }) => path);
  assert.deepEqual(
    readers.filter((path) => !path.startsWith('src/cli/')),
    ['src/app.ts'],
  );
});

test('an exported name is unique in the tree', () => {
  const files = new Map<string, Set<string>>();
  for (const { path, code } of sources) {
    const declared = code.matchAll(
      /^export (?:async |abstract )*(?:function\*?|const|let|class|type|interface) ([A-Za-z0-9_$]+)/gm,
    );
    for (const [, name = ''] of declared) files.set(name, (files.get(name) ?? new Set()).add(path));
  }
  assert.ok(files.size > 500);
  assert.deepEqual(
    [...files].filter(([, paths]) => paths.size > 1).map(([name, paths]) => `${name}: ${[...paths].join(', ')}`),
    [],
  );
});

test('no file reaches itself through what it imports', () => {
  const graph = new Map(
    sources.map(({ path, imports }) => [
      path,
      // A type is gone before anything runs.
      imports.filter(({ target, typeOnly }) => !typeOnly && target.startsWith('src/')).map(({ target }) => target),
    ]),
  );
  const finished = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    assert.ok(!trail.includes(path), `a cycle: ${[...trail.slice(trail.indexOf(path)), path].join(' → ')}`);
    if (finished.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    finished.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
});

test('a domain does not reach into the operators’ surfaces or the composition', () => {
  const composition = ['src/app.ts', 'src/domains.ts', 'src/background.ts'];
  for (const { path, imports } of sources) {
    if (path.startsWith('src/cli/')) continue;
    for (const { target } of imports) {
      assert.doesNotMatch(target, /^src\/cli\//, path);
      if (!composition.includes(path)) assert.ok(!composition.includes(target), path);
      if (!['src/domains.ts', 'src/embedded.ts'].includes(path)) assert.ok(target !== 'src/core.ts', path);
      if (!path.startsWith('src/admin/') && !composition.includes(path))
        assert.doesNotMatch(target, /^src\/admin\//, path);
    }
  }
});

test('every domain says in a README what it owns and what must never happen', () => {
  const domains = new Set(sources.filter(({ path }) => path.split('/').length > 2).map(({ path }) => domainOf(path)));
  for (const domain of domains) assert.ok(existsSync(join(ROOT, `src/${domain}/README.md`)), domain);
});

test('the page about the architecture names every folder, and the bounds of what runs for a request', () => {
  const page = readFileSync(join(ROOT, 'docs/explanation/architecture.md'), 'utf8');
  const folders = readdirSync(join(ROOT, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of folders) assert.match(page, new RegExp(`^\\|.*\`${name}/\`.*\\|.*\\|$`, 'm'), name);
  const bounds = readFileSync(join(ROOT, 'test/readability/files-passed.test.ts'), 'utf8').matchAll(
    /passesAtMost\((\d+),/g,
  );
  const told = page.matchAll(/^\| (?:UserInfo|A refresh|The form of the consent page) \| (\d+) \|$/gm);
  assert.deepEqual([...told].map(([, files]) => files).sort(), [...bounds].map(([, files]) => files).sort());
});

test('CD-01: whatever must not be guessed comes from the generator of the system, in few places', () => {
  const filesWith = (pattern: RegExp) =>
    sources
      .filter(({ code }) => pattern.test(code))
      .map(({ path }) => path)
      .sort();
  // How long a retry waits is all that the other generator decides.
  assert.deepEqual(filesWith(/\bMath\.random\b/), [
    'src/mail/dispatcher.ts',
    'src/platform/database/postgres/open.ts',
    'src/platform/failure.ts',
    'src/protocol/logout/notice-dispatcher.ts',
  ]);
  assert.deepEqual(filesWith(/\brandomBytes\b/), [
    'src/keys/seal.ts',
    'src/keys/signing-keys.ts',
    'src/platform/crypto/secrets.ts',
  ]);
  assert.deepEqual(filesWith(/\bgetRandomValues\b|\bpseudoRandomBytes\b/), []);
  assert.deepEqual(filesWith(/\brandomInt\b/), ['src/platform/crypto/secrets.ts']);
});

test('JW-05: each derived key has a label that no other has', () => {
  const labels = sources.flatMap(({ path, code }) =>
    [...code.matchAll(/\bderiveKey\([\w.]+, (['`])(.+?)\1\)/g)].map((found) => ({ path, label: found[2] ?? '' })),
  );
  const calls = sources.flatMap(({ code }) => [...code.matchAll(/(?<!const )\bderiveKey\(/g)]);
  assert.equal(labels.length, calls.length, 'every label is written where the key is derived');
  assert.equal(new Set(labels.map(({ label }) => label)).size, labels.length, JSON.stringify(labels));
});

test('what a source gives out is taken by another file, a test or a page of the documentation', () => {
  const readers = ['bin', 'docs', 'src', 'test', 'lab'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.[jt]s$/.test(name))
      .map((name) => ({ path: `${folder}/${name}`, words: new Set(read(`${folder}/${name}`).code.match(/[\w$]+/g)) })),
  );
  for (const { path, code } of sources) {
    for (const [, name = ''] of code.matchAll(/^export (?:async )?(?:function\*?|const|class) ([\w$]+)/gm)) {
      assert.ok(
        readers.some((reader) => reader.path !== path && reader.words.has(name)),
        `${path}: ${name} need not be exported`,
      );
    }
  }
});

/** Words that a reader would have to translate, or to read twice. */
const REFUSED_WORDS =
  /(?<![a-z])faces?(?![a-z])|Faces?(?![a-z])|(?<![A-Z])FACE|\b(?:[Aa]new|ANEW|[Ww]hoever|of ours|is none that|[Ww]hat came of)\b/;
/** The columns, the pending request and the deprecated field with that name. */
const STORED_OR_DEPRECATED = [
  'src/account-actions/connections/connections.ts',
  'src/admin/route-schemas/clients.ts',
  'src/admin/routes.ts',
  'src/cli/client.ts',
  'src/cli/context.ts',
  'src/clients/clients.ts',
  'src/clients/fields.ts',
  'src/clients/former-endpoints.ts',
  'src/clients/schema.ts',
  'src/clients/tables.ts',
  'src/clients/view.ts',
  'src/consent/store.ts',
  'src/consent/tables.ts',
  'src/credentials/code-store.ts',
  'src/credentials/tables.ts',
  'src/credentials/token-family-store.ts',
  'src/migrations/0002-clients.ts',
  'src/migrations/0005-tokens.ts',
  'src/protocol/authorize/rules/request.ts',
];

test('no text uses a word that is not plain', () => {
  const texts = ['src', 'docs']
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
    )
    .filter((path) => /\.(ts|md)$/.test(path));
  const found = [...texts, 'README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'].filter((path) => {
    const text = readFileSync(join(ROOT, path), 'utf8');
    // A person has one. The changelog and the reference of the admin API name the deprecated field.
    return REFUSED_WORDS.test(text.replaceAll(/fingerprint, (a )?face|`(faces|--face)`/g, ''));
  });
  assert.deepEqual(found.sort(), STORED_OR_DEPRECATED);
});

test('no file is longer than 400 lines, and every name is in kebab case', () => {
  for (const { path, text } of sources) {
    assert.ok(text.split('\n').length <= 400, path);
    assert.match(relative('src', path), /^([a-z0-9-]+\/)*[a-z0-9.-]+\.ts$/, path);
  }
});

test('the packages that the sources import are the dependencies of this one, all of them', () => {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { dependencies: object };
  const packages = sources
    .flatMap(({ imports }) => imports.map(({ target }) => target))
    .filter((target) => !/^(src\/|node:)/.test(target))
    .map((target) => target.split('/', target.startsWith('@') ? 2 : 1).join('/'));
  assert.deepEqual([...new Set(packages)].sort(), Object.keys(dependencies).sort());
});

test('each test file says in its first line which store it needs', () => {
  const files = found(FILES);
  assert.ok(files.length > 300);
  for (const path of files) needOf(path);
});
