import type { FastifySchema } from 'fastify';
import type { EndpointSet } from '../../claims/endpoint-set.ts';
import {
  FORM_TYPE,
  type OperationExample,
  PAGE,
  redirectResponse,
  refusalResponse,
} from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import { AuthorizationParameters } from '../../protocol/authorize/rules/parameters.ts';
import { AUTHORIZATION_ERRORS } from '../../protocol/authorize/rules/request.ts';

const AUTHORIZE = { area: 'sign-in', caller: 'anyone', refusesWithPage: true } as const;
const EXAMPLE = {
  response_type: 'code',
  client_id: sample.clientId,
  redirect_uri: sample.redirectUri,
  scope: 'openid email',
  state: 'xyz',
};
const DESCRIPTION = `Sends the browser to a page of the service, or back to \`redirect_uri\` with \`code\`, \`state\` and \`iss\`.
An error is sent there too, as \`error\` and \`error_description\`: ${AUTHORIZATION_ERRORS.map((code) => `\`${code}\``).join(', ')}.
Until the client and the redirect URI are valid, an error is shown on a page.`;

const answersTo = (status: 302 | 303) => ({
  200: { description: 'A form that the browser sends to the redirect URI: `response_mode=form_post`.', content: PAGE },
  [status]: redirectResponse('To a page of the service, or to the redirect URI with the response.'),
  400: refusalResponse(400, ['invalid_request'], true),
});
const examples = (where: Pick<OperationExample, 'query' | 'body'>, status: number): readonly OperationExample[] => [
  { summary: 'An app requests a person’s ID and email address', ...where, status },
];

const byGet = {
  ...AUTHORIZE,
  operationId: 'authorize',
  summary: 'Request a code',
  description: DESCRIPTION,
  querystring: AuthorizationParameters,
  response: answersTo(302),
  examples: examples({ query: EXAMPLE }, 302),
} satisfies FastifySchema;

export const authorizeByGetSchemas = {
  v2: byGet,
  oidc: {
    ...byGet,
    operationId: 'authorizeStandard',
    summary: 'Request a code (standard)',
    description: `${DESCRIPTION} This is the endpoint that the discovery document names: a scope that is unknown or not registered is left out.`,
  },
} satisfies Record<EndpointSet, FastifySchema>;

const byPost = {
  ...AUTHORIZE,
  operationId: 'authorizeByPost',
  summary: 'Request a code by a form',
  description: 'As by GET, with all parameters in the body and none in the query.',
  body: AuthorizationParameters,
  consumes: [FORM_TYPE],
  response: answersTo(303),
  examples: examples({ body: EXAMPLE }, 303),
} satisfies FastifySchema;

export const authorizeByPostSchemas = {
  v2: byPost,
  oidc: { ...byPost, operationId: 'authorizeStandardByPost', summary: 'Request a code by a form (standard)' },
} satisfies Record<EndpointSet, FastifySchema>;
