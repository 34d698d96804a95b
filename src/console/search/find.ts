import { findByBeginning } from '../../accounts/directory-store.ts';
import type { Permission } from '../../operators/permissions.ts';
import { holdsSomewhere, reachOf } from '../../operators/rights.ts';
import type { Messages } from '../../pages/messages.ts';
import type { Work } from '../../platform/database/database.ts';
import { readableEmail } from '../../platform/domain-name.ts';
import { appAddress } from '../apps/addresses.ts';
import { groupAddress } from '../groups/pages.ts';
import { keyAddress } from '../keys/addresses.ts';
import { organizationAddress } from '../organizations/addresses.ts';
import { personAddress } from '../people/frame.ts';
import { upstreamAddress } from '../upstreams/addresses.ts';
import type { ConsoleVisit } from '../visit.ts';
import { findByText, type NamedKind } from './named-store.ts';

/** Something that was found, and where its page is. */
export interface Hit {
  readonly address: string;
  readonly name: string;
  /** What tells it from others of that name. */
  readonly note: string;
}

export type HitKind = Exclude<keyof Messages['operators']['search']['kinds'], 'pages'>;

/** How many of each kind are shown. */
const MOST_OF_KIND = 5;

/** The kinds that are found by a part of their name, in the order of the page, each with the permission of its own page. */
const NAMED: Readonly<
  Record<NamedKind, { readonly permission: Permission; readonly addressOf: (id: string) => string }>
> = {
  apps: { permission: 'apps.read', addressOf: appAddress },
  groups: { permission: 'groups.read', addressOf: groupAddress },
  organizations: { permission: 'organizations.read', addressOf: organizationAddress },
  keys: { permission: 'operators.read', addressOf: keyAddress },
  upstreams: { permission: 'upstreams.read', addressOf: upstreamAddress },
};
const NAMED_KINDS = Object.keys(NAMED) as NamedKind[];

function* findPeople(text: string): Work<readonly Hit[]> {
  return (yield* findByBeginning(text, MOST_OF_KIND))
    .slice(0, MOST_OF_KIND)
    .map(({ id, displayName, username, email }) => ({
      address: personAddress(id),
      name: displayName,
      note: `${username} · ${readableEmail(email)}`,
    }));
}

/** What is found of each kind that the operator may see at that moment, those of which nothing is found left out. */
export const findEverywhere = (
  { operator, services }: ConsoleVisit,
  text: string,
): Promise<ReadonlyMap<HitKind, readonly Hit[]>> =>
  services.database.read(function* find() {
    // Who holds nothing any more is shown nothing.
    if (text === '') return new Map();
    const people = holdsSomewhere(operator, 'users.read') ? yield* findPeople(text) : [];
    const seen = NAMED_KINDS.filter((kind) => holdsSomewhere(operator, NAMED[kind].permission));
    const reaches = new Map(seen.map((kind) => [kind, reachOf(operator, NAMED[kind].permission)]));
    const named = yield* findByText(text, MOST_OF_KIND, reaches);
    const hitsOf = (kind: NamedKind): readonly Hit[] =>
      named
        .filter((row) => row.kind === kind)
        .slice(0, MOST_OF_KIND)
        .map(({ id, name, note }) => ({ address: NAMED[kind].addressOf(id), name, note: noteOf(kind, id, note) }));
    const found: (readonly [HitKind, readonly Hit[]])[] = [
      ['people', people],
      ...seen.map((kind) => [kind, hitsOf(kind)] as const),
    ];
    return new Map(found.filter(([, hits]) => hits.length > 0));
  });

const noteOf = (kind: NamedKind, id: string, note: string | null): string =>
  note !== null && kind === 'upstreams' ? new URL(note).host : (note ?? id);
