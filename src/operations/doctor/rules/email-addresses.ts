import type { AddressConflict } from '../../../accounts/address-conflict-store.ts';
import { type Finding, warning } from '../finding.ts';

/** Accounts whose addresses are one, or none, and which a migration therefore left as they were. */
export const judgeEmailAddresses = (conflicts: readonly AddressConflict[]): Finding[] =>
  conflicts.map(({ email, ids }) => {
    const remedy = `tessera user update ${ids.at(-1)} --email <address>`;
    if (email === undefined) {
      return warning('email-addresses', `The account ${ids[0]} has an address that mail cannot be sent to.`, remedy);
    }
    if (ids.length === 1) {
      return warning(
        'email-addresses',
        `The account ${ids[0]} has an address whose domain is not in ASCII: ${email}.`,
        `tessera user update ${ids[0]} --email ${email}`,
      );
    }
    return warning(
      'email-addresses',
      `The accounts ${ids.join(' and ')} have one address, ${email}, in different spellings.`,
      `Give all but one another address: ${remedy}`,
    );
  });
