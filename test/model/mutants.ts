/** A decisive line of the service, and how it is broken to see whether a test notices. */
export interface Mutant {
  readonly name: string;
  readonly file: string;
  /** Occurs once in the file. */
  readonly line: string;
  readonly broken: string;
  /** Said where no run of the model reaches the line: the test that guards it. */
  readonly guardedBy?: string;
}

const VERDICT = 'src/verdict/rules.ts';
const STATUS = 'src/verdict/rules.ts';
const ROTATION = 'src/protocol/token/rules/refresh.ts';
const REDEMPTION = 'src/protocol/token/rules/redemption.ts';
const CLAIMS = 'src/protocol/token/rules/claims.ts';
const CODE_GRANT = 'src/protocol/token/grants/authorization-code.ts';
const REDEEM_CODE = 'src/protocol/token/redeem-code.ts';
const REFRESH_GRANT = 'src/protocol/token/grants/refresh-token.ts';
const FAMILIES = 'src/credentials/token-family-store.ts';
const CONSENT = 'src/consent/store.ts';
const CONSENT_RULES = 'src/consent/rules/consent.ts';
const END_SESSIONS = 'src/account-actions/sign-in/end-sessions.ts';
const USER_INFO = 'src/protocol/userinfo/routes.ts';
const MINT = 'src/protocol/token/grant.ts';
const ACCOUNTS = 'src/account-actions/accounts/accounts.ts';
const CLIENTS = 'src/clients/clients.ts';
const CLIENT_CHANGE = 'src/clients/change.ts';
const SESSIONS = 'src/sessions/sessions.ts';
const ACCESS = 'src/access/store.ts';
const PATHS = 'src/account-actions/access/paths.ts';

const without = (name: string, file: string, line: string, guardedBy?: string): Mutant => ({
  name: `without: ${name}`,
  file,
  line,
  broken: '',
  ...(guardedBy !== undefined && { guardedBy }),
});
const instead = (name: string, file: string, line: string, broken: string): Mutant => ({ name, file, line, broken });

/** The stores join what the verdict stands on, so a missing row is a missing whole before the verdict is asked. */
const UNREACHABLE = 'test/model/verdict.test.ts';

const lines = {
  ended:
    "  if (family !== undefined && family.endsAt <= now) return invalid('the authorization has reached its end');\n",
  disabled: "  if (client.status !== 'active') return invalid('the client is disabled');\n",
  banned: "  if (isBanned(account, now)) return { kind: 'banned' };\n",
  suspended: "  if (isSuspended(account)) return { kind: 'suspended' };\n",
  revoked: "  if (grant.revokedAt !== null) return { kind: 'revoked' };\n",
  account:
    "  if (account.generation !== inherited.accountGeneration) return invalid('the account was secured after the sign-in');\n",
  client:
    "  if (client.generation !== inherited.clientGeneration) return invalid('the client was disabled after the sign-in');\n",
  dead: "  if (family !== undefined && family.deadAt !== null) return invalid('the sign-in of this token has ended');\n",
};
const middle = '  // 2. The account may be used.\n';
const third = '  // 3. The person still consents. A new consent makes a new grant, so this holds for ever.\n';
const fourth = '  // 4. Nothing happened to account or client that ended what came before.\n';

export const mutants: readonly Mutant[] = [
  // The verdict, line by line.
  without(
    'account on record',
    VERDICT,
    "  if (account === null) return invalid('the account no longer exists');\n",
    UNREACHABLE,
  ),
  without(
    'client on record',
    VERDICT,
    "  if (client === null) return invalid('the client no longer exists');\n",
    UNREACHABLE,
  ),
  without(
    'grant on record',
    VERDICT,
    "  if (grant === null) return invalid('the grant is not on record');\n",
    UNREACHABLE,
  ),
  without(
    'family on record',
    VERDICT,
    "  if (family === null) return invalid('the token family is not on record');\n",
    UNREACHABLE,
  ),
  without('end of the family', VERDICT, lines.ended),
  instead('the end of the family is late', VERDICT, 'family.endsAt <= now', 'family.endsAt < now'),
  without('disabled client', VERDICT, lines.disabled),
  without('ban', VERDICT, lines.banned),
  without('suspension', VERDICT, lines.suspended),
  without('revocation', VERDICT, lines.revoked),
  without('generation of the account', VERDICT, lines.account),
  without('generation of the client', VERDICT, lines.client),
  without('dead family', VERDICT, lines.dead),
  // Its order.
  instead('ban before disabled client', VERDICT, lines.disabled + middle + lines.banned, lines.banned + lines.disabled),
  instead('suspension before ban', VERDICT, lines.banned + lines.suspended, lines.suspended + lines.banned),
  instead(
    'revocation before suspension',
    VERDICT,
    `${lines.suspended}  // 3. The person still consents. A new consent makes a new grant, so this holds for ever.\n${lines.revoked}`,
    lines.revoked + lines.suspended,
  ),
  instead(
    'generation before revocation',
    VERDICT,
    lines.revoked + fourth + lines.account,
    lines.account + lines.revoked,
  ),
  instead(
    'generation before ban',
    VERDICT,
    lines.banned + lines.suspended + third + lines.revoked + fourth + lines.account,
    lines.account + lines.banned + lines.suspended + lines.revoked,
  ),
  // Bans end by the clock.
  instead('a ban ends late', STATUS, 'now < account.bannedUntil', 'now <= account.bannedUntil'),
  instead(
    'a ban without end ends',
    STATUS,
    'account.bannedUntil === null || now',
    'account.bannedUntil !== null && now',
  ),
  // Rotation.
  without('rotation of the current token', ROTATION, "  if (jti === chain.currentJti) return 'rotate';\n"),
  instead('grace ends late', ROTATION, 'now < chain.rotatedAt + GRACE', 'now <= chain.rotatedAt + GRACE'),
  instead('grace without end', ROTATION, 'chain.predecessorJti && inGrace', 'chain.predecessorJti'),
  instead('grace for older tokens', ROTATION, 'jti === chain.predecessorJti && inGrace', 'inGrace'),
  instead('no grace', ROTATION, 'chain.predecessorJti && inGrace', 'chain.predecessorJti && false'),
  // Redemption.
  instead('the code of another client', REDEMPTION, 'code.clientId !== presented.clientId', 'false'),
  instead('another redirect_uri', REDEMPTION, 'code.redirectUri !== presented.redirectUri', 'false'),
  instead('an unexpected verifier', REDEMPTION, 'if (codeVerifier !== undefined) return', 'if (false) return'),
  instead('a wrong verifier', REDEMPTION, 'challenge !== code.codeChallenge', 'false'),
  without('replay', REDEMPTION, "  if (code.redeemed) return { kind: 'replay' };\n"),
  without('end of the code', REDEMPTION, "  if (code.expiresAt <= now) return refuse('expired code');\n"),
  instead('a code ends late', REDEMPTION, 'code.expiresAt <= now', 'code.expiresAt < now'),
  instead(
    'a late replay revokes nothing',
    REDEMPTION,
    'if (code.redeemed)',
    'if (code.redeemed && now < code.expiresAt)',
  ),
  // What the grants do.
  instead(
    'a replay kills nothing',
    CODE_GRANT,
    'redeemedFor !== null && (yield* revokeFamily(',
    'false && (yield* revokeFamily(',
  ),
  instead(
    'an expired replay tells of the account',
    CODE_GRANT,
    'if (code.expiresAt <= now) return',
    'if (false) return',
  ),
  instead('a code without verdict', REDEEM_CODE, "if (verdict.kind !== 'live') {", 'if (false) {'),
  instead('a code is not spent', REDEEM_CODE, '!(yield* spendCode({ hash, familyId, now }))', 'false'),
  instead('the refresh token of another client', REFRESH_GRANT, 'if (token.clientId !== client.id)', 'if (false)'),
  instead('a refresh without verdict', REFRESH_GRANT, "if (verdict.kind !== 'live') {", 'if (false) {'),
  without(
    'death by reuse',
    REFRESH_GRANT,
    "    yield* revokeLockedFamily({ familyId, reason: 'refresh token reused', now });\n",
  ),
  without(
    'rotation in the store',
    REFRESH_GRANT,
    '  yield* rotateFamily({ familyId, predecessorJti: token.jti, now, lastNetwork, ...refreshToken });\n',
  ),
  without(
    'wider scopes',
    'src/protocol/token/rules/refresh.ts',
    '  if (!requested.every(isAvailable)) return undefined;\n',
  ),
  instead('a retry gets another token', REFRESH_GRANT, "if (move === 'repeat') {", 'if (false) {'),
  instead(
    'revoking a family is forgotten',
    FAMILIES,
    ".set({ dead_at: p.now, dead_reason: p.reason })\n    .where('id'",
    ".set({ dead_at: null, dead_reason: p.reason })\n    .where('id'",
  ),
  // The sets of endpoints.
  instead(
    'the code of the other endpoints',
    REDEMPTION,
    'if (code.endpointSet !== presented.endpointSet) return',
    'if (false) return',
  ),
  instead(
    'a code at the other endpoints counts as a replay',
    REDEMPTION,
    'if (code.endpointSet !== presented.endpointSet) return',
    "if (code.endpointSet !== presented.endpointSet && code.redeemed) return { kind: 'replay' };\n  if (code.endpointSet !== presented.endpointSet) return",
  ),
  instead(
    'a code is spent at the other endpoints',
    CODE_GRANT,
    "  if (use.kind === 'refuse') return",
    "  if (code.endpointSet !== endpointSet) yield* spendCode({ hash, familyId: null, now });\n  if (use.kind === 'refuse') return",
  ),
  instead(
    'the refresh token of the other endpoints',
    REFRESH_GRANT,
    'if (family.endpointSet !== rules.endpointSet) {',
    'if (false) {',
  ),
  instead(
    'a refresh token at the other endpoints counts as reuse',
    REFRESH_GRANT,
    'if (family.endpointSet !== rules.endpointSet) {',
    "if (family.endpointSet !== rules.endpointSet) {\n    yield* revokeLockedFamily({ familyId, reason: 'refresh token reused', now });",
  ),
  instead(
    'revoking leaves the grant of the other endpoints',
    CONSENT,
    ".set({ revoked_at: p.now })\n      .where('account_id', '=', p.accountId)",
    ".set({ revoked_at: p.now })\n      .where('face', '=', 'contract')\n      .where('account_id', '=', p.accountId)",
  ),
  instead(
    'openid is added at the OIDC endpoints',
    CONSENT_RULES,
    "formatScopes(rules.alwaysOpenId ? ['openid', ...given] : given)",
    "formatScopes(['openid', ...given])",
  ),
  instead(
    'a refresh adds openid at the OIDC endpoints',
    ROTATION,
    "new Set(alwaysOpenId ? ['openid', ...requested] : requested)",
    "new Set(['openid', ...requested])",
  ),
  instead(
    'a bar is a 403 at the OIDC endpoints, for a code or a refresh token',
    'src/protocol/token/refusals/sign-ins.ts',
    'rules.invalidGrantInsteadOf403 ?',
    'false ?',
  ),
  instead('a bar is a 403 at the OIDC endpoints, at UserInfo', USER_INFO, '.catch(asInvalidToken)', ''),
  instead('the OIDC endpoints give an ID token without openid', MINT, "if (scopes.has('openid')) {", 'if (true) {'),
  instead(
    'UserInfo takes tokens of the other endpoints',
    USER_INFO,
    'if (!accepted.includes(endpointSet)) {',
    'if (false) {',
  ),
  instead(
    'UserInfo of the OIDC endpoints without openid',
    USER_INFO,
    "if (!scopes.has('openid')) throw",
    'if (false) throw',
  ),
  instead(
    'UserInfo goes by the endpoints of the route',
    USER_INFO,
    'const { claimScopes } = ENDPOINT_RULES[endpointSet]',
    'const { claimScopes } = ENDPOINT_RULES.oidc',
  ),
  instead(
    'the other endpoints keep what was switched off',
    CONSENT_RULES,
    'optionalScopes.filter((scope) => switchedOff.has(scope))',
    'optionalScopes.filter(() => false)',
  ),
  without(
    'withdrawal at the other endpoints',
    'src/consent/decision.ts',
    '    const after = yield* changeGrant({ id, resources, epoch, now, decidedBy, ...change });\n    changes.push({ before, after });\n',
  ),
  instead('the v2 endpoints do not ask again', CONSENT_RULES, 'remembered.askAgain === true || ', ''),
  instead(
    'a later decision at the OIDC endpoints forgets to ask again',
    CONSENT_RULES,
    ' || (held.askAgain === true && isShared(declined))',
    '',
  ),
  instead(
    'the OIDC endpoints offer offline access without a page',
    'src/protocol/authorize/rules/next-step.ts',
    '    isNewlyOffline(state, rules) ||\n',
    '',
  ),
  instead('the OIDC endpoints redeem a code for nothing', REDEEM_CODE, "if (sent === '') return", 'if (false) return'),
  without(
    'families of the OIDC endpoints end with the session',
    END_SESSIONS,
    '  if (!isOver) yield* revokeFamiliesBoundTo({ accountId, sid, now });\n',
  ),
  without(
    'codes of the OIDC endpoints end with the session',
    END_SESSIONS,
    '  if (!isOver) yield* dropCodesBoundTo({ accountId, sid });\n',
  ),
  instead(
    'tokens of the OIDC endpoints with offline_access end with the session',
    'src/protocol/authorize/issue-code.ts',
    "rules.endsWithSession && !request.scopes.includes('offline_access'),",
    'rules.endsWithSession,',
  ),
  instead(
    'tokens of the v2 endpoints end with the session',
    'src/protocol/authorize/issue-code.ts',
    'endsWithSession: rules.endsWithSession && ',
    'endsWithSession: ',
  ),
  // Ends of tokens.
  instead('a token ends late', CLAIMS, 'exp <= seconds', 'exp < seconds'),
  // Consent.
  instead('revoking is forgotten', CONSENT, '.set({ revoked_at: p.now })', '.set({ revoked_at: null })'),
  instead(
    'revoking takes every app',
    CONSENT,
    ".set({ revoked_at: p.now })\n      .where('account_id', '=', p.accountId)\n      .where('client_id', '=', p.clientId)",
    ".set({ revoked_at: p.now })\n      .where('account_id', '=', p.accountId)",
  ),
  instead(
    'a revoked grant is taken up again',
    CONSENT,
    ".where('client_id', '=', p.clientId)\n    .where('revoked_at', 'is', null);\n",
    ".where('client_id', '=', p.clientId);\n",
  ),
  without(
    'form from before a revocation',
    'src/consent/decision.ts',
    "  if ((revocation?.name ?? '') !== decision.revocation) throw new ConsentOutdated();\n",
  ),
  without(
    'withdrawal from codes',
    'src/consent/decision.ts',
    '    if (scopes.length > 0) yield* withdrawFromCodes(grantId, scopes);\n',
  ),
  without(
    'withdrawal from families',
    'src/consent/decision.ts',
    '    if (scopes.length > 0) yield* withdrawFromFamilies(grantId, scopes);\n',
  ),
  instead(
    'an access token gives what was withdrawn',
    USER_INFO,
    'withdrawn.size === 0 ? scopes : scopes.difference(withdrawn)',
    'scopes',
  ),
  // Generations.
  instead(
    'a new password ends nothing',
    'src/account-actions/addresses/update-account.ts',
    'const isSecured = passwordHash !== undefined || decidesAddress;',
    'const isSecured = decidesAddress;',
  ),
  instead('a ban ends nothing', ACCOUNTS, 'banReason: reason, generation: randomIdentifier() }', 'banReason: reason }'),
  instead(
    'a suspension ends nothing',
    ACCOUNTS,
    'suspensionReason: reason, generation: randomIdentifier() }',
    'suspensionReason: reason }',
  ),
  instead(
    'signing out everywhere ends nothing',
    ACCOUNTS,
    'saveChange(account, { generation: randomIdentifier() }, at, now)',
    'saveChange(account, {}, at, now)',
  ),
  instead(
    'a disabled client comes back with its tokens',
    CLIENT_CHANGE,
    'isEnded ? randomIdentifier() : client.generation',
    'client.generation',
  ),
  without('an app is closed to strangers, whose tokens live on', CLIENT_CHANGE, ' || changed.access !== client.access'),
  without(
    'a person who lost an app keeps its tokens',
    'src/verdict/rules.ts',
    "  if (hasAccess === false) return invalid('the person lost access to the app after the sign-in');\n",
  ),
  without(
    'client of a pending request',
    'src/protocol/authorize/authorization.ts',
    '  client.generation === request.clientGeneration &&\n',
  ),
  instead(
    'a disabled client authenticates',
    'src/protocol/client-authentication/authenticate.ts',
    "if (client.status !== 'active') return",
    'if (false) return',
  ),
  instead(
    'an ended secret holds',
    'src/clients/store.ts',
    "eb('expires_at', '>', p.now)",
    "eb('expires_at', '>=', p.now)",
  ),
  instead(
    'the older secret never ends',
    CLIENTS,
    'secret === previous ? overlapEnd',
    'secret === previous ? Number.MAX_SAFE_INTEGER',
  ),
  // Who may use which app.
  {
    ...instead(
      'an assignment that has ended gives access',
      ACCESS,
      's.client_id = c.id and s.ended_at is null and (',
      's.client_id = c.id and (',
    ),
    guardedBy: 'test/contract/interrupted-endings.test.ts',
  },
  instead(
    'who leaves a group and comes back keeps codes and tokens',
    ACCESS,
    `group_member as gm where gm.id = \${column('member_id')}`,
    'group_member as gm where gm.id > 0',
  ),
  {
    ...instead(
      'who leaves an organization and comes back keeps codes and tokens',
      ACCESS,
      `membership as om where om.id = \${column('member_id')}`,
      'membership as om where om.id > 0',
    ),
    guardedBy: 'test/contract/app-access.test.ts',
  },
  instead(
    'a person without access gets a code',
    'src/protocol/authorize/authorization.ts',
    'hasAccess: isOpen || path !== undefined,',
    'hasAccess: true,',
  ),
  instead('who has another path is signed out', PATHS, '(path) => !isLostPath(path, lost)', '() => false'),
  instead('the lost path counts as another one', PATHS, '(path) => !isLostPath(path, lost)', '() => true'),
  instead('an app keeps its tokens when its access changes', CLIENT_CHANGE, ' || changed.access !== client.access', ''),
  // Sessions.
  instead('a session never ends', SESSIONS, 'expiresAt <= now || ', ''),
  instead('a session is never idle', SESSIONS, ' || lastSeenAt + IDLE_TIMEOUT <= now', ''),
  instead('a session outlives its generation', SESSIONS, "  if (verdict.kind !== 'live') return ANONYMOUS;\n", ''),
];
