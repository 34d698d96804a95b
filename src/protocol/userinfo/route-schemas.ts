import type { FastifySchema } from 'fastify';
import { FORM_TYPE, Id, Instant, jsonResponse, refusalResponses } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';

const text = Type.String();
const withScope = (scope: string) => ({ about: `With the scope \`${scope}\`.` });
const textOrNull = (scope: string) => Type.Optional(Type.Union([text, Type.Null()], withScope(scope)));

/** Contract §2.1. */
const UserInfoAnswer = Type.Object(
  {
    sub: Id,
    id: Type.String({ format: 'id', about: 'Same as sub.' }),
    user: Type.Object({
      displayName: text,
      username: text,
      avatar: Type.Object({
        baseUrl: text,
        path: Type.String({ about: 'Appended to baseUrl.' }),
        color: Type.String({ about: 'Background color, such as #5b2a86.' }),
      }),
      about: text,
      email: Type.Optional(
        Type.Object({ username: text, domain: text, isVerified: Type.Boolean() }, withScope('email')),
      ),
      website: textOrNull('details'),
      location: textOrNull('details'),
      birthDate: Type.Optional(
        Type.Union([Type.String({ format: 'calendar-date' }), Type.Null()], withScope('details')),
      ),
      phone: textOrNull('phone'),
      socialLinks: Type.Optional(
        Type.Array(Type.Object({ platform: text, url: text, label: text }), withScope('social')),
      ),
      organization: Type.Optional(
        Type.Union(
          [
            Type.Object({
              id: Id,
              name: text,
              role: Type.Unsafe<string | null>({ enum: ['OWNER', 'ADMIN', 'MEMBER', null] }),
              domain: text,
            }),
            Type.Null(),
          ],
          withScope('organization.read'),
        ),
      ),
    }),
    language: text,
    theme: Type.Unsafe<string | null>({ enum: ['light', 'dark', 'system', null], about: 'Null means system.' }),
    createdAt: Instant,
  },
  { title: 'UserInfo' },
);

const claim = (scope: string) => Type.Optional(Type.String(withScope(scope)));
const truth = (scope: string) => Type.Optional(Type.Boolean(withScope(scope)));

/** OpenID Connect Core 1.0 §5.1. What is not set is absent. */
const StandardClaims = Type.Object(
  {
    sub: Id,
    name: claim('profile'),
    preferred_username: claim('profile'),
    picture: claim('profile'),
    locale: claim('profile'),
    updated_at: Type.Optional(Type.Integer({ about: 'Unix time.' })),
    email: claim('email'),
    email_verified: truth('email'),
    website: claim('details'),
    birthdate: claim('details'),
    phone_number: claim('phone'),
    phone_number_verified: truth('phone'),
    groups: Type.Optional(Type.Array(text, withScope('groups'))),
    roles: Type.Optional(Type.Array(text, withScope('roles'))),
  },
  // An app may be registered with other names for groups and roles.
  { title: 'StandardClaims', additionalProperties: Type.Array(text) },
);

const IN_USERINFO = { area: 'userinfo', caller: 'access token' } as const;
const REFUSED = refusalResponses({ 401: ['invalid_token'], 403: ['access_denied'], 429: ['rate_limit_exceeded'] });
const REFUSED_STANDARD = refusalResponses({
  401: ['invalid_token'],
  403: ['insufficient_scope'],
  429: ['rate_limit_exceeded'],
});

export const readUserInfoSchema = {
  ...IN_USERINFO,
  operationId: 'readUserInfo',
  summary: 'Get user data',
  description: 'The fields of the granted scopes. A granted field without a value is null.',
  response: { 200: jsonResponse('The user.', UserInfoAnswer), ...REFUSED },
  examples: [
    {
      summary: 'With the scopes openid and email',
      status: 200,
      answer: {
        sub: sample.userId,
        id: sample.userId,
        user: {
          displayName: 'Ada Lovelace',
          username: sample.username,
          avatar: { baseUrl: 'https://id.example.com/avatars', path: `/${sample.userId}.svg`, color: '#5b2a86' },
          about: '',
          email: { username: 'ada', domain: 'example.com', isVerified: true },
        },
        language: 'en',
        theme: null,
        createdAt: sample.moment,
      },
    },
  ],
} satisfies FastifySchema;

const standard = {
  ...IN_USERINFO,
  response: {
    200: {
      ...jsonResponse('The person; a signed JWT for a client with `userinfoSignedResponseAlg`.', StandardClaims),
      content: {
        'application/json': { schema: StandardClaims },
        'application/jwt': { schema: text },
      },
    },
    ...REFUSED_STANDARD,
  },
};
const ADA = {
  sub: sample.userId,
  name: 'Ada Lovelace',
  preferred_username: sample.username,
  picture: `https://id.example.com/avatars/${sample.userId}.svg`,
  locale: 'en',
  updated_at: 1782896400,
  email: 'ada@example.com',
  email_verified: true,
};
const examples = [{ summary: 'With the scopes openid, profile and email', status: 200, answer: ADA }];

export const readStandardClaimsSchema = {
  ...standard,
  operationId: 'readStandardClaims',
  summary: 'Get standard claims',
  description: 'OpenID Connect Core 1.0 §5.3. Claims without a value are absent.',
  examples,
} satisfies FastifySchema;

export const postStandardClaimsSchema = {
  ...standard,
  operationId: 'readStandardClaimsByPost',
  summary: 'Get standard claims, by POST',
  description: 'Same as GET. Send the token in the header or in the form, not in both.',
  body: Type.Object({
    access_token: Type.Optional(Type.String({ about: 'The token, if there is no Authorization header.' })),
  }),
  consumes: [FORM_TYPE],
  examples,
} satisfies FastifySchema;
