import { jsonOr, plain } from '../platform/database/statement.ts';
import { nullableField } from '../platform/http/operation.ts';
import { declareField } from '../platform/validation/fields.ts';
import * as Type from '../platform/validation/type.ts';
import { orNull, text, textOrNull } from './field-kinds.ts';

const ACCESS_MODES = ['everyone', 'assigned'] as const;
export type AccessMode = (typeof ACCESS_MODES)[number];

export interface AppRole {
  readonly name: string;
  readonly description: string | null;
}

const GROUPS_CLAIMS = ['assigned', 'all'] as const;
type GroupsClaim = (typeof GROUPS_CLAIMS)[number];

export interface ClaimNames {
  readonly groups?: string;
  readonly roles?: string;
}

const CLAIM_NAME = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: '^[\\x21-\\x7e]+$',
  description: '1 to 128 visible ASCII characters',
});

/** The fields of a registration that say who may use the app, and what tokens say of that. */
export const ACCESS_FIELDS = {
  /** Who may use the app: everyone, or those who are assigned to it (src/access). */
  access: declareField({
    column: 'access',
    codec: plain<AccessMode>(),
    initial: 'everyone',
    schema: Type.Unsafe<AccessMode>({
      enum: ACCESS_MODES,
      about:
        'Who may use the app: everyone, or assigned for the people, groups and organizations that are assigned to it. A change ends what the app has: people authorize it again, mostly without a page. Default: everyone.',
      description: `one of ${ACCESS_MODES.join(', ')}`,
    }),
    record: Type.Unsafe<string>({ enum: ACCESS_MODES }),
    option: {
      flags: '--access <who>',
      about: 'who may use the app: everyone (default), or assigned',
      kind: 'text',
    },
  }),
  /** The roles that people can have in the app. */
  roles: declareField({
    column: 'roles',
    codec: jsonOr<readonly AppRole[], readonly AppRole[]>([]),
    initial: [],
    schema: Type.Array(
      Type.Object(
        {
          name: Type.String({
            pattern: '^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$',
            description:
              '1 to 64 of the characters A-Z, a-z, 0-9, ".", "_", ":" and "-", beginning with a letter or digit',
          }),
          description: orNull(
            Type.String({ maxLength: 200, format: 'single-line' }),
            'at most 200 characters on one line',
            'What people with the role may do.',
          ),
        },
        { additionalProperties: false, description: 'an object with name and description' },
      ),
      {
        maxItems: 100,
        about: 'Roles that people can have in the app. An assignment gives one; the scope roles puts them into tokens.',
        description: 'a list of at most 100 roles with different names',
      },
    ),
    record: Type.Array(Type.Object({ name: text, description: textOrNull }, { title: 'AppRole' })),
    option: {
      flags: '--role <name=description>',
      about: 'role that people can have in the app, as NAME or NAME=DESCRIPTION; may be given several times',
      kind: 'described list',
    },
  }),
  /** Which groups of a person the claim `groups` has: for an app of an organization, never those that only others may read. */
  groupsClaim: declareField({
    column: 'groups_claim',
    codec: plain<GroupsClaim>(),
    initial: 'assigned',
    schema: Type.Unsafe<GroupsClaim>({
      enum: GROUPS_CLAIMS,
      about:
        'Groups in the claim groups: assigned for those that are assigned to the app, all for all of the person. An app of an organization gets those of the organization and those that are assigned to it, never others. Default: assigned.',
      description: `one of ${GROUPS_CLAIMS.join(', ')}`,
    }),
    record: Type.Unsafe<string>({ enum: GROUPS_CLAIMS }),
    option: {
      flags: '--groups-claim <which>',
      about: 'groups in the claim groups: assigned, those assigned to the app (default); all, all of the person',
      kind: 'text',
    },
  }),
  /** Other names of the claims `groups` and `roles`; null for these. */
  claimNames: declareField({
    column: 'claim_names',
    codec: jsonOr<ClaimNames, null>(null),
    initial: null,
    schema: orNull(
      Type.Object(
        { groups: Type.Optional(CLAIM_NAME), roles: Type.Optional(CLAIM_NAME) },
        { additionalProperties: false },
      ),
      'an object with a name for groups, roles or both',
      'Other names of the claims groups and roles in the tokens of the app.',
    ),
    record: nullableField(Type.Object({ groups: Type.Optional(text), roles: Type.Optional(text) })),
    option: {
      flags: '--claim-names <json>',
      about: 'other names of the claims groups and roles, such as {"groups":"teams"}; "" for none',
      kind: 'JSON object',
    },
  }),
} as const;
