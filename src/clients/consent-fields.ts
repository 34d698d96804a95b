import { plain } from '../platform/database/statement.ts';
import { declareField } from '../platform/validation/fields.ts';
import * as Type from '../platform/validation/type.ts';

const CONSENT_MODES = ['ask', 'operator'] as const;
export type ConsentMode = (typeof CONSENT_MODES)[number];

/** The field of a registration that says who consents. */
export const CONSENT_FIELDS = {
  consent: declareField({
    column: 'consent',
    codec: plain<ConsentMode>(),
    initial: 'ask',
    schema: Type.Unsafe<ConsentMode>({
      enum: CONSENT_MODES,
      about: 'Who consents: ask, each person; operator, once the scopes are approved. Default: ask.',
      description: `one of ${CONSENT_MODES.join(', ')}`,
    }),
    record: Type.Unsafe<string>({ enum: CONSENT_MODES }),
    option: {
      flags: '--consent <who>',
      about: 'who consents: ask, each person on the consent page (default); operator, once the scopes are approved',
      kind: 'text',
    },
  }),
} as const;
