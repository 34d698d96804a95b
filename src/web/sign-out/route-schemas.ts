import type { FastifySchema } from 'fastify';
import { FORM_TYPE, PAGE, redirectResponse, refusalResponse } from '../../platform/http/operation.ts';
import { sample } from '../../platform/http/samples.ts';
import * as Type from '../../platform/validation/type.ts';

const text = (about: string) => Type.Optional(Type.String({ about }));

/** OpenID Connect RP-Initiated Logout 1.0 §2. */
const EndSessionParameters = Type.Object({
  id_token_hint: text('An ID token of the session. With it the session ends without a question.'),
  logout_hint: text('Accepted and ignored.'),
  client_id: text('The client, if there is no id_token_hint.'),
  post_logout_redirect_uri: text('A registered URI to return to, character for character.'),
  state: text('Returned unchanged.'),
  ui_locales: text('Accepted; there is one language.'),
});

/** The parameters, none of which may be repeated. */
export const END_SESSION_NAMES = Object.keys(EndSessionParameters.properties);

const EXAMPLE = { client_id: sample.clientId };
const answersTo = (status: 302 | 303) => ({
  200: { description: 'A page that asks the person to confirm, or says that the session has ended.', content: PAGE },
  [status]: redirectResponse('To `post_logout_redirect_uri` with `state`, or to a page of the service.'),
  400: refusalResponse(400, ['invalid_request'], true),
});
const END_SESSION = { area: 'sign-in', caller: 'anyone', refusesWithPage: true } as const;

export const endSessionByGetSchema = {
  ...END_SESSION,
  operationId: 'endSession',
  summary: 'Sign the user out',
  description:
    'OpenID Connect RP-Initiated Logout 1.0. The person confirms first, unless the request has an `id_token_hint` of this session.',
  querystring: EndSessionParameters,
  response: answersTo(302),
  examples: [{ summary: 'Without a session', query: EXAMPLE, status: 200 }],
} satisfies FastifySchema;

export const endSessionByPostSchema = {
  ...END_SESSION,
  operationId: 'endSessionByPost',
  summary: 'Sign the user out, by POST',
  description: 'Same as GET, with the parameters in the body.',
  body: EndSessionParameters,
  consumes: [FORM_TYPE],
  response: answersTo(303),
  examples: [{ summary: 'Without a session', body: EXAMPLE, status: 303 }],
} satisfies FastifySchema;
