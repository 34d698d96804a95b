import assert from 'node:assert/strict';
import fc from 'fast-check';
import { admin } from '../support/flow.ts';
import { losePaths, pathsOf, setAccess } from './model.ts';
import { decision, pageSteps, request } from './pages.ts';
import {
  type Assignment,
  type Group,
  type Membership,
  type Organization,
  pick,
  type State,
  type User,
} from './state.ts';
import { step } from './step.ts';
import { tokenSteps } from './tokens.ts';
import { ROLES, type World } from './world.ts';

// Decisions §12: who may use which app. Whoever loses every path to an app has lost it, and what is given back revives nothing.

const nat = fc.nat(11);
const role = fc.constantFrom(null, ...ROLES);

async function call(world: World, method: string, path: string, body?: unknown) {
  const answer = await admin(world.server, method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

const idOf = (world: World, user: User): string => pick(world.users, user.index).id;
const clientIdOf = (world: World, { client }: Pick<Assignment, 'client'>): string =>
  pick(world.clients, client.index).clientId;

const memberPath = (world: World, { user, of }: Pick<Membership, 'user' | 'of'>): string =>
  `/${of.kind === 'group' ? 'groups' : 'organizations'}/${of.id}/members/${idOf(world, user)}`;

/** Who may join what: an organization's group has its members only, and a person is in one organization at most. */
function joinable(state: Readonly<State>): readonly Pick<Membership, 'user' | 'of'>[] {
  const isIn = (user: User, of: Group | Organization) =>
    state.memberships.some((membership) => membership.user === user && membership.of === of);
  const mayJoin = (user: User, of: Group | Organization): boolean =>
    of.kind === 'organization'
      ? !state.organizations.some((other) => isIn(user, other))
      : of.organization === undefined || isIn(user, of.organization);
  return state.users
    .filter(({ exists }) => exists)
    .flatMap((user) => [...state.organizations, ...state.groups].map((of) => ({ user, of })))
    .filter(({ user, of }) => !isIn(user, of) && mayJoin(user, of));
}

async function join(state: State, world: World, { user, of }: Pick<Membership, 'user' | 'of'>): Promise<void> {
  await call(world, 'PUT', memberPath(world, { user, of }), of.kind === 'group' ? undefined : {});
  state.memberships.push({ user, of, ended: false });
}

/** A person who leaves an organization has left its groups. */
async function leave(state: State, world: World, membership: Membership): Promise<void> {
  await call(world, 'DELETE', memberPath(world, membership));
  const { user, of } = membership;
  const isLost = (other: Membership): boolean =>
    other.user === user && (other.of === of || (other.of.kind === 'group' && other.of.organization === of));
  losePaths(state, { memberships: state.memberships.filter(isLost), assignments: [] });
}

type Assigned = Omit<Assignment, 'id' | 'ended'>;

async function assign(state: State, world: World, { client, to, role }: Assigned): Promise<void> {
  const whom = 'kind' in to ? { [`${to.kind}Id`]: to.id } : { userId: idOf(world, to) };
  const { id } = await call(world, 'POST', `/clients/${clientIdOf(world, { client })}/assignments`, { ...whom, role });
  state.assignments.push({ id, client, to, role, ended: false });
}

async function unassign(state: State, world: World, assignment: Assignment): Promise<void> {
  await call(world, 'DELETE', `/clients/${clientIdOf(world, assignment)}/assignments/${assignment.id}`);
  losePaths(state, { memberships: [], assignments: [assignment] });
}

/** What can be assigned and is not, in a role. */
const assignable = (state: Readonly<State>, role: string | null): readonly Assigned[] =>
  state.clients
    .flatMap((client) =>
      [...state.users.filter(({ exists }) => exists), ...state.groups, ...state.organizations].map((to) => ({
        ...{ client, to, role },
      })),
    )
    .filter(({ client, to }) => !hasSame(state, { client, to, role }));

const hasSame = (state: Readonly<State>, { client, to, role }: Assigned): boolean =>
  state.assignments.some((other) => other.client === client && other.to === to && other.role === role);

let made = 0;

type Way = 'person' | 'group' | 'organization';

/** What is assigned to reach a person: the person, or a group or organization that the person is in, or joins. */
async function wayOf(state: State, world: World, user: User, way: Way): Promise<Assignment['to']> {
  if (way === 'person') return user;
  const joined = state.memberships.find((membership) => membership.user === user && membership.of.kind === way);
  if (joined !== undefined) return joined.of;
  const of = way === 'group' ? await makeGroup(state, world, undefined) : await makeOrganization(state, world);
  await join(state, world, { user, of });
  return of;
}

async function makeGroup(state: State, world: World, organization: Organization | undefined): Promise<Group> {
  const body = { name: `group-${++made}`, ...(organization !== undefined && { organizationId: organization.id }) };
  const group: Group = { kind: 'group', id: (await call(world, 'POST', '/groups', body)).id, organization };
  state.groups.push(group);
  return group;
}

async function makeOrganization(state: State, world: World): Promise<Organization> {
  const body = { name: `organization-${++made}`, domain: 'model.example' };
  const organization: Organization = {
    kind: 'organization',
    id: (await call(world, 'POST', '/organizations', body)).id,
  };
  state.organizations.push(organization);
  return organization;
}

export const accessSteps = {
  /** With somebody in it who is assigned, so that the app goes on for most. */
  setAccess: step({
    weight: 2,
    argument: fc.record({ client: nat, user: nat }),
    async act(state, world, argument) {
      const client = pick(state.clients, argument.client);
      const access = client.access === 'everyone' ? 'assigned' : 'everyone';
      await call(world, 'PATCH', `/clients/${clientIdOf(world, { client })}`, { access });
      setAccess(state, client, access);
      const user = pick(state.users, argument.user);
      const assigned = { client, to: user, role: null };
      if (access === 'assigned' && user.exists && !hasSame(state, assigned)) await assign(state, world, assigned);
    },
  }),
  /** A sign-in whose path is taken away at once, where the person may have another one, and may get it back. */
  loseWhatWasIssued: step({
    weight: 6,
    argument: fc.record({
      request,
      decision,
      redeem: fc.boolean(),
      by: fc.constantFrom<Way>('person', 'group', 'organization'),
      second: fc.option(fc.constantFrom<Way>('person', 'group', 'organization'), { nil: undefined }),
      leaves: fc.boolean(),
      back: fc.boolean(),
    }),
    applies: (state, { request: wanted }) => pick(state.browsers, wanted.browser).user.exists,
    async act(state, world, { request: wanted, decision: decided, redeem, by, second, leaves, back }) {
      const { user } = pick(state.browsers, wanted.browser);
      const client = pick(state.clients, wanted.client);
      if (client.access === 'everyone') {
        await call(world, 'PATCH', `/clients/${clientIdOf(world, { client })}`, { access: 'assigned' });
        setAccess(state, client, 'assigned');
      }
      for (const way of second === undefined ? [by] : [by, second]) {
        const assigned = { client, to: await wayOf(state, world, user, way), role: null };
        if (!hasSame(state, assigned)) await assign(state, world, assigned);
      }
      await pageSteps.authorize.act(state, world, { request: wanted, decision: decided });
      const wasIssued = state.codes.at(-1)?.family === undefined && state.codes.length > 0;
      if (redeem && wasIssued) await tokenSteps.redeem.act(state, world, { code: 0, secret: 0 });
      const [path] = pathsOf(state, user, client);
      if (path === undefined) return;
      const { assignment, membership } = path;
      if (membership === undefined || !leaves) await unassign(state, world, assignment);
      else await leave(state, world, membership);
      if (!back) return;
      if (membership?.ended) await join(state, world, membership);
      else if (assignment.ended) await assign(state, world, assignment);
    },
  }),
  makeGroup: step({
    weight: 4,
    argument: fc.record({ organization: fc.option(nat, { nil: undefined }), users: fc.array(nat, { maxLength: 2 }) }),
    applies: ({ groups }) => groups.length < 3,
    async act(state, world, { organization: which, users }) {
      const organization =
        which === undefined || state.organizations.length === 0 ? undefined : pick(state.organizations, which);
      const group = await makeGroup(state, world, organization);
      for (const user of users) {
        const wanted = joinable(state).find((one) => one.of === group && one.user === pick(state.users, user));
        if (wanted !== undefined) await join(state, world, wanted);
      }
    },
  }),
  makeOrganization: step({
    weight: 2,
    argument: nat,
    applies: ({ organizations }) => organizations.length < 2,
    async act(state, world, which) {
      const organization = await makeOrganization(state, world);
      const wanted = joinable(state).filter(({ of }) => of === organization);
      if (wanted.length > 0) await join(state, world, pick(wanted, which));
    },
  }),
  join: step({
    weight: 3,
    argument: nat,
    applies: (state) => joinable(state).length > 0,
    act: (state, world, which) => join(state, world, pick(joinable(state), which)),
  }),
  assign: step({
    weight: 4,
    argument: fc.record({ which: nat, role }),
    applies: (state, { role }) => assignable(state, role).length > 0,
    act: (state, world, { which, role }) => assign(state, world, pick(assignable(state, role), which)),
  }),
  leave: step({
    weight: 3,
    argument: nat,
    applies: ({ memberships }) => memberships.length > 0,
    act: (state, world, which) => leave(state, world, pick(state.memberships, which)),
  }),
  unassign: step({
    weight: 3,
    argument: nat,
    applies: ({ assignments }) => assignments.length > 0,
    act: (state, world, which) => unassign(state, world, pick(state.assignments, which)),
  }),
  /** Given back at once, nothing revives. */
  leaveAndJoin: step({
    weight: 2,
    argument: nat,
    applies: ({ memberships }) => memberships.length > 0,
    async act(state, world, which) {
      const membership = pick(state.memberships, which);
      await leave(state, world, membership);
      await join(state, world, membership);
    },
  }),
  unassignAndAssign: step({
    weight: 2,
    argument: nat,
    applies: ({ assignments }) => assignments.length > 0,
    async act(state, world, which) {
      const assignment = pick(state.assignments, which);
      await unassign(state, world, assignment);
      await assign(state, world, assignment);
    },
  }),
  deleteGroup: step({
    weight: 1,
    argument: nat,
    applies: ({ groups }) => groups.length > 0,
    async act(state, world, which) {
      const group = pick(state.groups, which);
      await call(world, 'DELETE', `/groups/${group.id}`);
      state.groups.splice(state.groups.indexOf(group), 1);
      const memberships = state.memberships.filter(({ of }) => of === group);
      losePaths(state, { memberships, assignments: state.assignments.filter(({ to }) => to === group) });
    },
  }),
  deleteOrganization: step({
    weight: 1,
    argument: nat,
    applies: ({ organizations }) => organizations.length > 0,
    async act(state, world, which) {
      const organization = pick(state.organizations, which);
      await call(world, 'DELETE', `/organizations/${organization.id}`);
      const groups = state.groups.filter((group) => group.organization === organization);
      state.organizations.splice(state.organizations.indexOf(organization), 1);
      for (const group of groups) state.groups.splice(state.groups.indexOf(group), 1);
      const isGone = (one: unknown) => one === organization || groups.some((group) => group === one);
      losePaths(state, {
        memberships: state.memberships.filter(({ of }) => isGone(of)),
        assignments: state.assignments.filter(({ to }) => isGone(to)),
      });
    },
  }),
  /** A role that is lost ends nothing. */
  changeRole: step({
    weight: 2,
    argument: fc.record({ which: nat, role }),
    applies: ({ assignments }) => assignments.length > 0,
    async act(state, world, { which, role }) {
      const assignment = pick(state.assignments, which);
      if (assignment.role !== role && hasSame(state, { ...assignment, role })) return;
      const path = `/clients/${clientIdOf(world, assignment)}/assignments/${assignment.id}`;
      await call(world, 'PATCH', path, { role });
      assignment.role = role;
    },
  }),
  /** Whether each person may use an app, in which roles, and by which assignments. */
  askWhy: step({
    weight: 2,
    argument: fc.record({ client: nat, user: nat }),
    applies: (state, { user }) => pick(state.users, user).exists,
    async act(state, world, argument) {
      const client = pick(state.clients, argument.client);
      const user = pick(state.users, argument.user);
      const { access, roles, assignments, obstacles } = await call(
        world,
        'GET',
        `/clients/${clientIdOf(world, { client })}/access/${idOf(world, user)}`,
      );
      const paths = pathsOf(state, user, client);
      const names = [...new Set(paths.flatMap(({ assignment }) => assignment.role ?? []))].sort();
      const isUnassigned = client.access === 'assigned' && paths.length === 0;
      assert.deepEqual(
        [access, roles, assignments.map(({ id }: { id: string }) => id), obstacles.includes('not_assigned')],
        [client.access, names, paths.map(({ assignment }) => assignment.id), isUnassigned],
      );
    },
  }),
};
