import { asciiDomain, asciiEmail } from '../../domain-name.ts';
import type { RewriteMigration } from './kinds.ts';
import type { Query } from './migrate.ts';

/** Rows whose value is not in ASCII. Released versions refused such domains, so only what other programs wrote has them. */
const notAscii = (column: string): string => `octet_length(${column}) <> length(${column})`;

/** Both databases are used with standard strings, in which only the quote is special. */
const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** Columns besides those of accounts, with the key of their tables. No two rows are in each other's way. */
const OTHERS = [
  { table: 'address_change', key: 'hash', column: 'email', convert: asciiEmail },
  { table: 'address_change', key: 'hash', column: 'email_key', convert: lowerEmail },
  { table: 'challenge', key: 'hash', column: 'address', convert: lowerEmail },
  { table: 'invitation', key: 'id', column: 'email', convert: asciiEmail },
  { table: 'organization', key: 'id', column: 'domain', convert: (text: string) => asciiDomain(text)?.toLowerCase() },
] as const;

function lowerEmail(text: string): string | undefined {
  return asciiEmail(text)?.toLowerCase();
}

/** Domains are in ASCII from now on: see `domain-name.ts`. */
export const asciiDomains: RewriteMigration = {
  kind: 'rewrite',
  statements: () => [],
  async rewrite(query) {
    const findings = await rewriteAccounts(query);
    for (const { table, key, column, convert } of OTHERS) {
      for (const row of await query(
        `SELECT CAST(${key} AS TEXT) AS key, ${column} AS value FROM ${table} WHERE ${notAscii(column)}`,
      )) {
        const converted = convert(String(row['value']));
        if (converted === undefined) continue;
        const where = `CAST(${key} AS TEXT) = ${quoted(String(row['key']))}`;
        await query(`UPDATE ${table} SET ${column} = ${quoted(converted)} WHERE ${where}`);
      }
    }
    return findings;
  },
};

/** Accounts that would have one address keep what they have: which of them has it is for an operator to decide. */
async function rewriteAccounts(query: Query): Promise<readonly string[]> {
  const rows = await query(
    `SELECT CAST(id AS TEXT) AS id, email FROM account WHERE ${notAscii('email_key')} ORDER BY account.id`,
  );
  const byAddress = new Map<string, { readonly email: string; readonly ids: string[] }>();
  const findings: string[] = [];
  for (const { id, email } of rows) {
    const ascii = asciiEmail(String(email));
    if (ascii === undefined) {
      findings.push(
        `The account ${id} keeps an address that is none by the rules of this version. Give it another: tessera user update ${id} --email <address>`,
      );
      continue;
    }
    const key = ascii.toLowerCase();
    const group = byAddress.get(key) ?? { email: ascii, ids: [] };
    group.ids.push(String(id));
    byAddress.set(key, group);
  }
  for (const [key, { email, ids }] of byAddress) {
    const [holder] = await query(`SELECT CAST(id AS TEXT) AS id FROM account WHERE email_key = ${quoted(key)}`);
    const all = holder === undefined ? ids : [String(holder['id']), ...ids];
    const [id = ''] = ids;
    if (all.length > 1) findings.push(sharedAddress(email, all, id));
    else await query(`UPDATE account SET email = ${quoted(email)}, email_key = ${quoted(key)} WHERE id = ${id}`);
  }
  return findings;
}

const sharedAddress = (email: string, ids: readonly string[], id: string): string =>
  `The accounts ${ids.join(' and ')} have one address, ${email}, in different spellings. None of them was changed. ` +
  `Give all but one another address: tessera user update ${id} --email <address>`;
