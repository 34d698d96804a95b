import { ApproveConsentRequest, ClientRecord } from '../../clients/schema.ts';
import { Id, jsonResponse, NO_CONTENT_RESPONSE } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';
import type { AdminSchema } from '../admin-app.ts';
import { adminErrors, MAY_BE_MISSING, MAY_CONFLICT, MAY_HAVE_CHANGED } from './errors.ts';

const IN_APPROVALS = { area: 'api-scopes', caller: 'admin key', params: Type.Object({ clientId: Id }) } as const;
const params = { clientId: sample.operatorClientId };

export const approveConsentSchema = {
  ...IN_APPROVALS,
  operationId: 'approveConsent',
  versioned: 'client',
  permission: 'apps.approve',
  objects: { app: ['clientId'], inOrganizationOfBody: true },
  summary: 'Approve the scopes of a client',
  description:
    'For a client with `consent: operator`: people are not asked for these scopes, except those who declined one, denied the client, or took its access away. A change of its scopes, redirect URIs, owner, grants, endpoints or access ends the approval.',
  body: ApproveConsentRequest,
  response: {
    200: jsonResponse('The client.', ClientRecord),
    ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }),
  },
  examples: [{ summary: 'Two scopes', params, body: { scopes: ['openid', 'email'] }, status: 200 }],
} satisfies AdminSchema;

export const withdrawApprovalSchema = {
  ...IN_APPROVALS,
  operationId: 'withdrawConsentApproval',
  versioned: 'client',
  permission: 'apps.approve',
  objects: { app: ['clientId'] },
  summary: 'Withdraw the approval of a client',
  description: 'People are asked at their next authorization. Tokens from before go on.',
  response: { 204: NO_CONTENT_RESPONSE, ...adminErrors({ ...MAY_BE_MISSING, ...MAY_CONFLICT, ...MAY_HAVE_CHANGED }) },
  examples: [{ summary: 'Withdraw it', params, status: 204 }],
} satisfies AdminSchema;
