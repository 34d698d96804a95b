import { AppAccessRecord } from '../../access/schema.ts';
import { appAccessView } from '../../access/view.ts';
import { ENDPOINT_SETS } from '../../claims/endpoint-set.ts';
import { leftOutFields } from '../../claims/schema.ts';
import { nullableField } from '../../platform/http/operation.ts';
import { requestBody } from '../../platform/validation/fields.ts';
import * as Type from '../../platform/validation/type.ts';
import type { EndpointPreview, Preview } from './preview.ts';

export const PreviewRequest = requestBody('PreviewRequest', {
  userId: Type.String({ format: 'id', about: 'Whose claims.', description: 'an ID' }),
  scope: Type.Optional(
    Type.String({
      maxLength: 2000,
      about: 'Scopes as in an authorization request. Default: openid.',
      description: 'scopes with a space between them',
    }),
  ),
  resource: Type.Optional(
    Type.Array(Type.String({ maxLength: 2000 }), {
      maxItems: 5,
      about: 'Resources of an authorization request: the APIs that the access token is for.',
    }),
  ),
  claims: Type.Optional(
    Type.String({
      maxLength: 4000,
      about: 'The parameter `claims` of an authorization request: JSON, as it is sent.',
    }),
  ),
});
export type PreviewRequest = Type.Static<typeof PreviewRequest>;

const claims = (about: string) =>
  nullableField(Type.Unsafe<object>({ type: 'object', additionalProperties: true }), about);

/** What tokens would say, as made by `previewView`. */
export const PreviewRecord = Type.Object(
  {
    access: AppAccessRecord,
    endpoints: Type.Array(
      Type.Object(
        {
          endpoints: Type.Unsafe<string>({ enum: ENDPOINT_SETS, about: 'The endpoints that the app would use.' }),
          error: nullableField(Type.String(), 'The error of an authorization request for these scopes; null for none.'),
          errorDescription: nullableField(Type.String()),
          scope: Type.String({ about: 'The scopes of the tokens.' }),
          ignoredScopes: Type.Array(Type.String(), { about: 'Requested scopes that the endpoints ignore.' }),
          idToken: claims(
            'Claims of the ID token, without those that each sign-in has of its own; null if there is none.',
          ),
          userinfo: claims('The response of UserInfo; null if it refuses the token.'),
          introspection: claims('The response of introspection to the app, without what each token has of its own.'),
          leftOut: Type.Array(Type.Object(leftOutFields, { title: 'LeftOutClaim' }), {
            about: 'What is too long and therefore left out.',
          }),
        },
        { title: 'EndpointPreview' },
      ),
      { about: 'One for each of the app’s endpoints.' },
    ),
  },
  { title: 'TokenPreview' },
);

const endpointView = ({ endpointSet, error, ...preview }: EndpointPreview) => ({
  endpoints: endpointSet,
  error: error?.error ?? null,
  errorDescription: error?.description ?? null,
  ...preview,
});

/** What tokens would say, in the admin API. */
export const previewView = ({ access, endpoints }: Preview) => ({
  access: appAccessView(access),
  endpoints: endpoints.map(endpointView),
});
