import type { FastifySchema } from 'fastify';
import {
  FORM_TYPE,
  type OperationExample,
  PAGE,
  redirectResponse,
  refusalResponse,
} from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import { AuthorizationParameters } from './rules/parameters.ts';
import { AUTHORIZATION_ERRORS } from './rules/request.ts';

const AUTHORIZE = { area: 'sign-in', caller: 'anyone', refusesWithPage: true } as const;
const ASKED = {
  response_type: 'code',
  client_id: sample.clientId,
  redirect_uri: sample.redirectUri,
  scope: 'openid email',
  state: 'xyz',
};
const DESCRIPTION = `Sends the browser to a page of the service, or back to \`redirect_uri\` with \`code\`, \`state\` and \`iss\`.
An error goes there too, as \`error\` and \`error_description\`: ${AUTHORIZATION_ERRORS.map((code) => `\`${code}\``).join(', ')}.
Nobody is redirected as long as the client or the redirect URI is in doubt.`;

const answersTo = (status: 302 | 303) => ({
  200: { description: 'A form that the browser sends to the redirect URI: `response_mode=form_post`.', content: PAGE },
  [status]: redirectResponse('To a page of the service, or to the redirect URI with the answer.'),
  400: refusalResponse(400, ['invalid_request'], true),
});
const examples = (where: Pick<OperationExample, 'query' | 'body'>, status: number): readonly OperationExample[] => [
  { summary: 'An app asks for a person’s name and address', ...where, status },
];

export const authorizeByGetSchema = {
  ...AUTHORIZE,
  operationId: 'authorize',
  summary: 'Ask for a code',
  description: DESCRIPTION,
  querystring: AuthorizationParameters,
  response: answersTo(302),
  examples: examples({ query: ASKED }, 302),
} satisfies FastifySchema;

export const authorizeByPostSchema = {
  ...AUTHORIZE,
  operationId: 'authorizeByPost',
  summary: 'Ask for a code, by a form',
  description: 'As by GET, with the parameters in the body and none of them in the address.',
  body: AuthorizationParameters,
  consumes: [FORM_TYPE],
  response: answersTo(303),
  examples: examples({ body: ASKED }, 303),
} satisfies FastifySchema;
