import { jsonResponse } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import { requestBody } from '../../platform/validation/fields.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { adminErrors, MAY_BE_MISSING } from './errors.ts';

const EndWeakerAccessRequest = requestBody('EndWeakerAccessRequest', {
  organizationId: Type.Optional(
    Type.String({ format: 'id', about: 'For the members of an organization.', description: 'an id' }),
  ),
  clientId: Type.Optional(Type.String({ format: 'id', about: 'For the users of an app.', description: 'an id' })),
  everyone: Type.Optional(Type.Boolean({ about: 'For everyone.', description: 'true' })),
});

export const endWeakerAccessSchema = {
  area: 'users',
  caller: 'admin key',
  operationId: 'endWeakerAccess',
  permission: 'access.end',
  summary: 'End sessions and tokens without a second factor',
  description:
    'For use after a second factor was required: ends what people got before without one, of an organization, of an app, or of everyone. Name exactly one of these. For an app only its tokens end. Where the call does not return, repeat it.',
  body: EndWeakerAccessRequest,
  response: {
    200: jsonResponse(
      'What was ended.',
      Type.Object(
        {
          users: Type.Integer({ about: 'How many people it was of.' }),
          sessions: Type.Integer(),
          authorizations: Type.Integer({ about: 'Codes, and authorizations with all of their tokens.' }),
        },
        { title: 'EndedAccess' },
      ),
    ),
    ...adminErrors(MAY_BE_MISSING),
  },
  examples: [
    {
      summary: 'Of the members of an organization',
      body: { organizationId: sample.organizationId },
      status: 200,
      answer: { users: 0, sessions: 0, authorizations: 0 },
    },
  ],
} satisfies AdminSchema;
