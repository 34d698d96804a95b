import type { NamedGroup } from '../../groups/store.ts';
import type { MemberScope } from '../permissions.ts';

/** What a person is in an app, as tokens say it. One that the granted scopes do not cover is undefined. */
export interface MemberClaims {
  readonly groups?: readonly string[] | undefined;
  readonly roles?: readonly string[] | undefined;
  /** Whether the person has more groups than these: see {@link MOST_GROUPS}. */
  readonly hasMoreGroups?: boolean;
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

/** What the tokens of a person lack, because it is too long. */
export interface LeftOut {
  readonly claim: MemberScope;
  /** The ID token lacks the claim; UserInfo and introspection lack the groups beyond the first {@link MOST_GROUPS}. */
  readonly from: 'id_token' | 'userinfo';
}

/** What an ID token lacks. @param given the claims that it has otherwise */
export function leftOutOfIdToken(member: MemberClaims, given: (claim: MemberScope) => boolean): readonly LeftOut[] {
  const kept = forIdToken(member);
  return (['groups', 'roles'] as const)
    .filter((claim) => given(claim) && member[claim] !== undefined && kept[claim] === undefined)
    .map((claim) => ({ claim, from: 'id_token' }));
}

/** What UserInfo and introspection lack. */
export const leftOutOfUserInfo = ({ hasMoreGroups = false }: MemberClaims): readonly LeftOut[] =>
  hasMoreGroups ? [{ claim: 'groups', from: 'userinfo' }] : [];

/** What tokens lack and why, and the remedy. */
export function explainLeftOut(
  { claim, from }: LeftOut,
  groupsClaim: 'assigned' | 'all',
): { readonly reason: string; readonly remedy: string } {
  const { names, bytes } = MOST_IN_ID_TOKEN;
  const reason =
    from === 'id_token'
      ? `The ID token has no claim ${claim}, which would be longer than ${names} names or ${bytes} bytes. UserInfo and introspection have it.`
      : `UserInfo and introspection have only the first ${MOST_GROUPS} groups, by name: the person is in more.`;
  if (claim === 'roles') return { reason, remedy: 'Give the person fewer roles in the app.' };
  const remedy =
    groupsClaim === 'all'
      ? 'Assign the groups that the app needs to it, and set groupsClaim to assigned: the claim then has only these.'
      : 'Assign only the groups that the app needs to it.';
  return { reason, remedy };
}

/** {@link explainLeftOut} in one text. */
export function describeLeftOut(left: LeftOut, groupsClaim: 'assigned' | 'all'): string {
  const { reason, remedy } = explainLeftOut(left, groupsClaim);
  return `${reason} ${remedy}`;
}
