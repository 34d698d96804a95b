import type { SecondFactorSetting } from '../accounts/second-factor-setting.ts';
import type { Work } from '../platform/database/database.ts';
import { findRequiringOrganization } from './store.ts';

/**
 * Whether a second factor, or a passkey, is required of a person whatever they use: by the installation, or by the organization that they
 * are a member of now. Apps that require one do so for themselves.
 */
export function* isSecondFactorRequired(setting: SecondFactorSetting, { id }: { readonly id: string }): Work<boolean> {
  return setting === 'required' || (yield* findRequiringOrganization({ accountId: id })) !== undefined;
}
