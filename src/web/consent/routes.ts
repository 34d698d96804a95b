import type { FastifyInstance, FastifyReply } from 'fastify';
import { heldBy } from '../../account-actions/admission/held.ts';
import type { Account } from '../../accounts/store.ts';
import { endpointRulesOf } from '../../claims/endpoint-set.ts';
import { readMemberClaims } from '../../claims/member-claims.ts';
import { isOptional, isSwitched, MEMBER_SCOPES, memberScopesOf, type SwitchedScope } from '../../claims/permissions.ts';
import type { DeveloperSettings } from '../../clients/developer-settings.ts';
import { describeApiScopes, findResourceServers } from '../../clients/resources.ts';
import { isCommandLine } from '../../clients/rules/command-line.ts';
import { isClaimable } from '../../clients/rules/redirect-uri.ts';
import { listApiScopes } from '../../clients/store.ts';
import { digestOfResources, rememberedConsent } from '../../consent/decision.ts';
import { sharedDespiteDecline } from '../../consent/rules/consent.ts';
import { findGrants, findLastRevocation } from '../../consent/store.ts';
import { findMembership, findOrganization } from '../../organizations/store.ts';
import { generalProblem, NO_PROBLEMS, type Problems } from '../../pages/components.ts';
import { sendPage } from '../../pages/layout.ts';
import type { Work } from '../../platform/database/database.ts';
import { formOf } from '../../platform/http/bodies.ts';
import type { RequestRefusal } from '../../platform/http/errors.ts';
import { addressBucket, networkOf, originOf } from '../../platform/validation/origin.ts';
import type { PendingRequest } from '../../protocol/authorize/authorization.ts';
import { denyRequest } from '../../protocol/authorize/denial.ts';
import { issueCode } from '../../protocol/authorize/issue-code.ts';
import { type AuthorizationRequest, consentScopes, formActionSources } from '../../protocol/authorize/rules/request.ts';
import type { SignedInVisitor } from '../../sessions/sessions.ts';
import { placeOf, sendDeviceGone } from '../authorize/device-answer.ts';
import {
  type AuthorizationPageServices,
  advance,
  IN_FLOW,
  loadPendingRequest,
  pendingRequestOf,
  readPending,
} from '../authorize/pending-request.ts';
import { CLIENT } from '../authorize/request-fields.ts';
import { sendIssued, sendResponse } from '../authorize/send-response.ts';
import type { Browser } from '../browser/browser.ts';
import { logoutContext } from '../browser/signed-in.ts';
import { noAccessRoutes } from './no-access.ts';
import { type ConsentPage, consentPage, type HandedRole, switchName } from './pages.ts';

interface ConsentServices extends AuthorizationPageServices {
  readonly developers: DeveloperSettings;
}

/** The consent page (decisions §2), and the page of people who may not use the app. */
export function consentRoutes(app: FastifyInstance, services: ConsentServices): void {
  noAccessRoutes(app, services);
  const { browsers, site } = services;
  const preHandler = loadPendingRequest(services);

  app.get('/consent', { config: IN_FLOW, preHandler }, async (request, reply) => {
    const pending = pendingRequestOf(request);
    const { step, visitor } = pending;
    if (step.kind !== 'consent' || visitor.kind !== 'signed in') return advance(services, request, reply, pending);
    const question = { pending, visitor, asked: step.asked };
    return showConsent(services, reply, 200, question, browsers.of(request, reply), NO_PROBLEMS);
  });

  app.post('/consent', { config: IN_FLOW, preHandler }, async (request, reply) => {
    const pending = pendingRequestOf(request);
    const { handle, step, visitor } = pending;
    if (visitor.kind !== 'signed in' || (step.kind !== 'consent' && step.kind !== 'issue')) {
      return advance(services, request, reply, pending);
    }
    const form = formOf(request);
    const shown = form.get('shown') ?? '';
    const [epoch = '', revocation = '', told = '', resources = '', ...scopes] = shown.split(' ');
    const asked = scopes.filter(isSwitched);
    const browser = browsers.of(request, reply);
    const isOwn = browser.owns(form, consentContext(handle, visitor.account, shown, form.get(CLIENT) ?? ''));
    const answer = isOwn ? form.get('decision') : undefined;
    const origin = originOf(request, { type: 'user', id: visitor.account.id });
    // A denial is accepted whatever was asked, also where another tab has allowed the client or access was revoked meanwhile.
    if (answer === 'deny') {
      const response = await denyRequest(services, pending, 'denied', origin);
      if (response === 'device gone') return sendDeviceGone(services, request, reply);
      if (response !== undefined) {
        request.refusal = DENIED;
        return sendResponse(services, request, reply, response);
      }
      return advance(services, request, reply, await readPending(services, request, reply, handle));
    }
    if (answer === 'allow') {
      const allowed = new Set(asked.filter((scope) => form.get(switchName(scope)) === 'on'));
      const decision = {
        accountId: visitor.account.id,
        epoch,
        revocation,
        told: told.split(',').filter(isOptional),
        resources,
        asked,
        allowed,
      };
      const result = await issueCode(services, { ...pending, decision, origin });
      if (result.kind !== 'changed') return sendIssued(services, request, reply, pending.request, result);
    }
    // What the page asked has changed since: it is shown again.
    const now = await readPending(services, request, reply, handle);
    if (now?.kind !== 'current' || now.step.kind !== 'consent' || now.visitor.kind !== 'signed in') {
      return advance(services, request, reply, now);
    }
    const question = { pending: now, visitor: now.visitor, asked: now.step.asked };
    return showConsent(services, reply, 409, question, browser, generalProblem(site.messages.consent.changed));
  });
}

/** What the log and the trace say of a denial. */
const DENIED: RequestRefusal = {
  code: 'access_denied',
  reason: 'User denied the request',
  description: 'User denied the request',
  detail: {
    expected: 'the consent of the user',
    received: 'The person declined on the consent page.',
    remedy: 'Nothing is wrong: offer the user to continue without, or to begin again.',
  },
};

/** What a consent page asks. */
interface ConsentQuestion {
  readonly pending: PendingRequest;
  readonly visitor: SignedInVisitor;
  readonly asked: readonly SwitchedScope[];
}

/**
 * The context of the form: the app, the request, the account and what the page showed. It has the account rather than the session, since a
 * sign-in in another tab starts a new session, and tabs do not invalidate each other's forms (decisions §3).
 */
const consentContext = (handle: string, account: Account, shown: string, app: string): string =>
  `consent of ${app} ${handle} ${account.id} ${shown}`;

async function showConsent(
  { database, site, clock, developers }: ConsentServices,
  reply: FastifyReply,
  status: number,
  { pending, visitor, asked }: ConsentQuestion,
  browser: Browser,
  problems: Problems,
): Promise<FastifyReply> {
  const { account } = visitor;
  const { client, handle, request } = pending;
  const { redirectUri, resources = [] } = request;
  const rules = endpointRulesOf(request.endpointSet, client);
  const requested = consentScopes(request);
  const members = memberScopesOf(new Set(requested), []);
  const key = { accountId: account.id, clientId: client.id };
  const { revocation, grants, organization, member, apiScopes, resourceServers, handsOver } = await database.read(
    function* read() {
      return {
        // Before the grants, so that a revocation in between makes the form outdated.
        revocation: (yield* findLastRevocation(key))?.name ?? '',
        grants: yield* findGrants(key),
        organization: yield* findMembership({ accountId: account.id }),
        member: members.size === 0 ? {} : yield* readMemberClaims(client, account.id, members),
        apiScopes: yield* describeApiScopes(yield* listApiScopes(key), site.messages.language),
        resourceServers: yield* findResourceServers(resources),
        handsOver: isCommandLine(client)
          ? yield* rolesHandedOver(account.id, { policy: developers.policy, now: clock(), locks: false })
          : undefined,
      };
    },
  );
  const grant = grants.find(({ endpointSet }) => endpointSet === request.endpointSet);
  const declinedElsewhere = new Set(grants.flatMap((other) => (other === grant ? [] : [...other.declined])));
  const isOn = (scope: SwitchedScope): boolean =>
    !grant?.declined.has(scope) && (grant?.scopes.has(scope) === true || !declinedElsewhere.has(scope));
  const told = sharedDespiteDecline(rules, grants);
  const shown = [client.consentEpoch, revocation, told.join(','), digestOfResources(pending.resources), ...asked].join(
    ' ',
  );
  const page = consentPage(site, {
    token: browser.formToken(consentContext(handle, account, shown, client.id), visitor),
    shown,
    logoutToken: browser.formToken(logoutContext(account.id), visitor),
    handle,
    client,
    place: placeOf(site, request),
    // RFC 8252 §8.6: any program can listen there and get the code, also where the app has other addresses.
    isClaimable: request.device === undefined && isClaimable(redirectUri),
    device: deviceOn(request, reply),
    account,
    organization,
    member,
    fixedMember: MEMBER_SCOPES.filter((scope) => requested.includes(scope) && !rules.optionalScopes.includes(scope)),
    asked,
    optionalScopes: rules.optionalScopes,
    sharesIdentity: rules.identityClaims,
    staysConnected: rules.endsWithSession && request.scopes.includes('offline_access'),
    apiScopes,
    handsOver,
    resourceServers,
    remembered: rememberedConsent(grant, client),
    on: new Set(asked.filter(isOn)),
    sharedDespiteDecline: told,
    problems,
  });
  return sendPage(reply, status, site, page, formActionSources(redirectUri));
}

/** The roles that a person hands over to the command line: those that they hold now. */
function* rolesHandedOver(accountId: string, holding: Parameters<typeof heldBy>[1]): Work<readonly HandedRole[]> {
  const { grants, developsByPolicy } = yield* heldBy(accountId, holding);
  const isGiven = grants.some(({ role, organizationId }) => role === 'developer' && organizationId === null);
  const roles: HandedRole[] =
    developsByPolicy && !isGiven ? [{ role: 'developer', organization: null, expiresAt: null }] : [];
  for (const { role, organizationId, expiresAt } of grants) {
    const organization =
      organizationId === null ? null : ((yield* findOrganization({ id: organizationId }))?.name ?? organizationId);
    roles.push({ role, organization, expiresAt });
  }
  return roles;
}

/** The device that asks, as the page shows it beside where the person is now. */
function deviceOn({ device }: AuthorizationRequest, { request }: FastifyReply): ConsentPage['device'] {
  if (device === undefined) return undefined;
  const { network, askedAt } = device;
  return { network, askedAt, isHere: network !== null && network === networkOf(addressBucket(request.address)) };
}
