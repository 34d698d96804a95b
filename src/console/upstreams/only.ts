import { requireUpstream } from '../../account-actions/upstreams/only-upstream.ts';
import {
  findOrganization,
  lockOrganization,
  type Organization,
  organizationNotFound,
} from '../../organizations/store.ts';
import { fieldProblem, generalProblem, isolate, selectField } from '../../pages/components.ts';
import { html } from '../../pages/html.ts';
import { beforeFirstCommit } from '../../platform/database/first-commit.ts';
import { invalid } from '../../platform/failure.ts';
import { isSnowflake } from '../../platform/ids/ids.ts';
import { findUpstreamOfOrganization } from '../../upstreams/only-store.ts';
import { findUpstream, listUpstreams, type Upstream } from '../../upstreams/store.ts';
import { type ConsoleAct, defineAct } from '../act.ts';
import { organizationAddress } from '../organizations/addresses.ts';
import { StalePage, seenVersion, versionOfShown } from '../seen.ts';
import { ONLY_UPSTREAM } from './addresses.ts';
import { textsOf } from './fields.ts';

/** How many providers are offered. */
const MOST = 100;

/** An organization, the provider that it names, and those that it may name. */
interface Choice {
  readonly organization: Organization;
  readonly upstreamId: string | null;
  readonly upstreams: readonly Upstream[];
}

/** Lets the members of an organization in only through one provider, or as they like. */
const only = defineAct<Choice>({
  ...{ address: ONLY_UPSTREAM, section: 'organizations', permission: 'upstreams.manage' },
  ...{ objects: { organization: 'id' }, isDangerous: false },
  find: ({ services, named: { id = '' } }) =>
    services.database.read(function* read() {
      const organization = yield* findOrganization({ id });
      if (organization === undefined) throw organizationNotFound(id);
      const upstreamId = (yield* findUpstreamOfOrganization({ organizationId: id })) ?? null;
      const upstreams = yield* listUpstreams({ after: '0', limit: MOST });
      if (upstreamId === null || upstreams.some((one) => one.id === upstreamId)) {
        return { organization, upstreamId, upstreams };
      }
      // The form must not choose another by leaving it out.
      const named = yield* findUpstream({ id: upstreamId });
      return { organization, upstreamId, upstreams: named === undefined ? upstreams : [named, ...upstreams] };
    }),
  ask(visit, { organization, upstreamId, upstreams }, given, problems) {
    const { onlyFor: words } = textsOf(visit);
    const options = upstreams.map(
      ({ id, displayName, status }) => [id, status === 'active' ? displayName : words.isOff(displayName)] as const,
    );
    const choice = selectField({
      ...{ name: 'upstream', label: words.provider, problems, options: [['', words.asTheyLike], ...options] },
      value: given.get('upstream') ?? upstreamId ?? '',
    });
    return {
      ...{ title: words.title(isolate(organization.name)), lead: words.lead, submit: words.submit },
      fields: html`${choice}<label class="check"><input type="checkbox" name="end" value="yes"${given.get('end') === 'yes' && html` checked`}><span>${words.end}</span></label>`,
      about: { id: organization.id, seen: seenVersion(versionOfShown(upstreamId), given, problems) },
      back: organizationAddress(organization.id),
    };
  },
  async run(visit, { organization, upstreams }, given) {
    const { onlyFor: words } = textsOf(visit);
    const { services, origin } = visit;
    const { id: organizationId } = organization;
    const id = given.get('upstream') ?? '';
    if (id !== '' && !isSnowflake(id)) throw invalid('upstream');
    const asked = { upstreamId: id === '' ? null : id, endSessions: given.get('end') === 'yes' };
    const database = beforeFirstCommit(services.database, function* check() {
      yield* lockOrganization({ id: organizationId });
      const current = (yield* findUpstreamOfOrganization({ organizationId })) ?? null;
      if (versionOfShown(current) !== given.get('seen')) throw new StalePage('organization');
    });
    const { upstreamId, ended } = await requireUpstream({ ...services, database }, organizationId, asked, origin);
    const name = isolate(organization.name);
    const back = {
      back: organizationAddress(organization.id),
      backTo: services.site.messages.operators.back(name),
    };
    if (upstreamId === null) return { title: words.doneAny(name), now: words.nowAny, ...back };
    const provider = upstreams.find((one) => one.id === upstreamId)?.displayName ?? upstreamId;
    const now = asked.endSessions ? words.ended(ended.users, ended.sessions) : words.now;
    return { title: words.done(name, isolate(provider)), now, ...back };
  },
  problemOf(visit, failure, { upstreamId, upstreams }) {
    const { onlyFor: words } = textsOf(visit);
    if (failure instanceof StalePage) {
      const named = upstreams.find(({ id }) => id === upstreamId);
      return generalProblem([words.stale, ' ', named === undefined ? words.asTheyLike : isolate(named.displayName)]);
    }
    return failure.message === 'upstream' ? fieldProblem('upstream', words.providerBad) : undefined;
  },
});

/** The acts on how the members of an organization sign in. */
export const onlyUpstreamActs: readonly ConsoleAct[] = [only];
