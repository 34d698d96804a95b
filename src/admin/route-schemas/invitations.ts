import {
  CreateInvitationRequest,
  InvitationRecord,
  invitationNotFound,
} from '../../account-actions/invitations/invitations.ts';
import { organizationNotFound } from '../../organizations/store.ts';
import { Id, jsonResponse, NO_CONTENT_RESPONSE } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { pageOf, pageParameters } from '../paging.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT } from './errors.ts';

const IN_ORGANIZATIONS = { area: 'organizations', caller: 'admin key' } as const;

const open = {
  ...{ id: sample.invitationId, email: null, organizationId: null, role: null, inviterId: null },
  ...{ createdAt: sample.moment, expiresAt: '2026-07-02T09:00:00.000Z', usedAt: null, usedBy: null },
};

export const createInvitationSchema = {
  ...IN_ORGANIZATIONS,
  operationId: 'createInvitation',
  permission: 'invitations.manage',
  handsOut: true,
  objects: { inOrganizationOfBody: true },
  summary: 'Invite a person',
  description:
    'With an email address and mail, the link is sent there; else the answer has it, this once. An unused invitation ends when the admin key that made it is revoked.',
  body: CreateInvitationRequest,
  response: {
    201: jsonResponse('The invitation.', InvitationRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT }),
  },
  examples: [
    {
      summary: 'An open link for a day',
      body: { days: 1 },
      status: 201,
      answer: { ...open, link: 'https://id.example.com/invitation?link=8Kb0fYQ2…' },
    },
    {
      summary: 'To an organization that does not exist',
      body: { email: 'ada@example.com', organizationId: '71', role: 'MEMBER' },
      status: 404,
      answer: { error: 'not_found', error_description: organizationNotFound('71').message },
    },
  ],
} satisfies AdminSchema;

export const listInvitationsSchema = {
  ...IN_ORGANIZATIONS,
  operationId: 'listInvitations',
  permission: 'invitations.read',
  summary: 'List invitations',
  querystring: pageParameters({}),
  response: {
    200: jsonResponse('A page of the list, in the order of ids.', pageOf(InvitationRecord)),
    ...adminErrors(),
  },
  examples: [{ summary: 'The first page', status: 200, answer: { items: [open], nextCursor: null } }],
} satisfies AdminSchema;

export const revokeInvitationSchema = {
  ...IN_ORGANIZATIONS,
  operationId: 'revokeInvitation',
  permission: 'invitations.manage',
  objects: { invitation: 'id' },
  summary: 'Revoke an invitation',
  params: Type.Object({ id: Id }),
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors(MAY_BE_MISSING) },
  examples: [
    { summary: 'One that was not used', params: { id: sample.invitationId }, status: 204 },
    {
      summary: 'One that is not open',
      params: { id: '71' },
      status: 404,
      answer: { error: 'not_found', error_description: invitationNotFound('71').message },
    },
  ],
} satisfies AdminSchema;
