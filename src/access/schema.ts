import { Id, Instant, nullableField } from '../platform/http/operation.ts';
import { requestBody } from '../platform/validation/fields.ts';
import * as Type from '../platform/validation/type.ts';
import { OBSTACLES } from './rules/app-access.ts';
import type { AssignedTo } from './store.ts';

const id = (about: string) => Type.Optional(Type.String({ format: 'id', about, description: 'an ID' }));
const role = Type.Union([Type.String({ maxLength: 64 }), Type.Null()], {
  about: 'A role of the app; null for none.',
  description: 'the name of a role of the app, or null',
});

/** Exactly one of the three ids. */
export const CreateAssignmentRequest = requestBody('CreateAssignmentRequest', {
  userId: id('Assigns a person.'),
  groupId: id('Assigns a group: everyone who is in it.'),
  organizationId: id('Assigns an organization: all its members.'),
  role: Type.Optional(role),
});
export type CreateAssignmentRequest = Type.Static<typeof CreateAssignmentRequest>;

export const UpdateAssignmentRequest = requestBody('UpdateAssignmentRequest', { role });
export type UpdateAssignmentRequest = Type.Static<typeof UpdateAssignmentRequest>;

/** Whom a request names; undefined unless it names exactly one. */
export function readAssignedTo({ userId, groupId, organizationId }: CreateAssignmentRequest): AssignedTo | undefined {
  const named: AssignedTo[] = [];
  if (userId !== undefined) named.push({ kind: 'person', accountId: userId });
  if (groupId !== undefined) named.push({ kind: 'group', groupId });
  if (organizationId !== undefined) named.push({ kind: 'organization', organizationId });
  return named.length === 1 ? named[0] : undefined;
}

/** An assignment in the admin API, as made by `assignmentView`. */
export const AssignmentRecord = Type.Object(
  {
    id: Id,
    clientId: Id,
    userId: nullableField(Id),
    groupId: nullableField(Id),
    organizationId: nullableField(Id),
    role: nullableField(Type.String()),
    createdAt: Instant,
  },
  { title: 'Assignment' },
);

/** What taking access away did, as the acts return it. */
export const AccessChangeRecord = Type.Object(
  {
    kept: Type.Integer({ about: 'Sign-ins that go on, because the person has another assignment.' }),
    ended: Type.Integer({ about: 'Sign-ins that ended. None of their tokens is accepted any more.' }),
  },
  { title: 'AccessChange' },
);

/** Whether a person may use an app, and why, as made by `appAccessView`. */
export const AppAccessRecord = Type.Object(
  {
    clientId: Id,
    userId: Id,
    allowed: Type.Boolean({ about: 'Whether the person may use the app now.' }),
    access: Type.Unsafe<string>({ enum: ['everyone', 'assigned'], about: 'Who the app is open to.' }),
    roles: Type.Array(Type.String(), { about: 'The roles of the person in the app.' }),
    assignments: Type.Array(
      Type.Object(
        {
          id: Id,
          userId: nullableField(Id),
          groupId: nullableField(Id),
          organizationId: nullableField(Id),
          name: nullableField(Type.String(), 'The name of the group or organization.'),
          role: nullableField(Type.String()),
        },
        { title: 'AssignmentOfUser' },
      ),
      { about: 'Every assignment that reaches the person.' },
    ),
    obstacles: Type.Array(Type.Unsafe<string>({ enum: OBSTACLES }), {
      about: 'What keeps the person from using the app; empty if `allowed`.',
    }),
  },
  { title: 'AppAccess' },
);
