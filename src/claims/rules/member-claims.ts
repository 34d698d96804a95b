import type { NamedGroup } from '../../groups/store.ts';

/** What a person is in an app, as tokens say it. One that the granted scopes do not cover is undefined. */
export interface MemberClaims {
  readonly groups?: readonly string[] | undefined;
  readonly roles?: readonly string[] | undefined;
}

/** The most groups that are read and given, by UserInfo and introspection. */
export const MOST_GROUPS = 1000;
/** The most names, and the most bytes of them as JSON, that an ID token has: it must fit into cookies and headers. */
const MOST_IN_ID_TOKEN = { names: 200, bytes: 4096 } as const;

/**
 * The name of a group in tokens. That of an organization's group has the organization in it, for neither slug can hold a slash: nobody but
 * the installation can make the name `admins`.
 */
export const groupClaim = ({ name, organization }: Pick<NamedGroup, 'name' | 'organization'>): string =>
  organization === null ? name : `${organization}/${name}`;

const fits = (names: readonly string[]): boolean =>
  names.length <= MOST_IN_ID_TOKEN.names && Buffer.byteLength(JSON.stringify(names)) <= MOST_IN_ID_TOKEN.bytes;

/** What an ID token says of them: a claim that is too long for it is left out whole, never in part. */
export const forIdToken = ({ groups, roles }: MemberClaims): MemberClaims => ({
  groups: groups !== undefined && fits(groups) ? groups : undefined,
  roles: roles !== undefined && fits(roles) ? roles : undefined,
});
