import { type Reading, Variable } from '../platform/config/variable.ts';

const POLICIES = ['off', 'members', 'anyone'] as const;
/** Who registers and manages apps of their own without a role: nobody, members of organizations, or everyone with a verified address. */
export type DeveloperPolicy = (typeof POLICIES)[number];

/** The apps that people register themselves, as developers. */
export interface DeveloperSettings {
  readonly policy: DeveloperPolicy;
  /** How many apps of their own a person has at a time. */
  readonly mostApps: number;
}

function policy(value: string): Reading<DeveloperPolicy> {
  const found = POLICIES.find((known) => known === value);
  return found === undefined ? { problem: `must be one of ${POLICIES.join(', ')}` } : { value: found };
}

const MOST = 1000;

function count(value: string): Reading<number> {
  const number = /^[1-9]\d{0,3}$/.test(value) ? Number(value) : Number.NaN;
  return number <= MOST ? { value: number } : { problem: `must be a whole number from 1 to ${MOST}` };
}

export const developerVariables = {
  developers: new Variable('TESSERA_DEVELOPERS', policy, {
    initial: '`off`',
    about:
      'Who may [register and manage apps of their own](../how-to/operators.md#developers) in the console, beside people with the role `developer`: `off`, nobody; `members`, every member of an organization; `anyone`, every account with a verified address.',
  }),
  developerApps: new Variable('TESSERA_DEVELOPER_APPS', count, {
    initial: '`20`',
    about: 'How many apps of their own a developer has at a time. Apps above it stay when it is lowered.',
  }),
} as const;
