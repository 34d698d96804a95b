import * as Type from '../platform/validation/type.ts';
import { MEMBER_SCOPES } from './permissions.ts';

/** What tokens lack because it is too long, in the admin API. */
export const leftOutFields = {
  claim: Type.Unsafe<string>({ enum: MEMBER_SCOPES }),
  from: Type.Unsafe<string>({
    enum: ['id_token', 'userinfo'],
    about:
      '`id_token`: it lacks the claim. `userinfo`: UserInfo and introspection lack the groups after the first 1000.',
  }),
  message: Type.String({ about: 'Why, and the remedy.' }),
};
