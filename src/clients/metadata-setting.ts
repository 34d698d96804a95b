import { type Reading, Variable } from '../platform/config/variable.ts';
import { canonicalListed } from '../platform/domain-name.ts';

/** Which clients may identify themselves by the URL of a metadata document. */
export interface ClientMetadataSetting {
  readonly mode: 'off' | 'listed' | 'open';
  /** The listed domains; with a dot in front, everything below them as well. */
  readonly domains: readonly string[];
}

function mode(value: string): Reading<ClientMetadataSetting['mode']> {
  return value === 'off' || value === 'listed' || value === 'open'
    ? { value }
    : { problem: 'must be off, listed or open' };
}

function domains(value: string): Reading<readonly string[]> {
  const names = value.split(',').map((name) => canonicalListed(name.trim()));
  return names.every((name) => name !== undefined)
    ? { value: [...new Set(names)] }
    : { problem: 'must be domains, separated by commas, for example app.example,.example.com' };
}

export const clientMetadataVariables = {
  clientMetadata: new Variable('TESSERA_CLIENT_METADATA', mode, {
    initial: '`off`',
    about:
      'Whether apps that no operator registered can identify themselves by the URL of a [metadata document](../how-to/connect-agents.md): `off`, `listed` for those of `TESSERA_CLIENT_METADATA_DOMAINS`, or `open` for all.',
  }),
  clientMetadataDomains: new Variable('TESSERA_CLIENT_METADATA_DOMAINS', domains, {
    initial: 'none',
    about:
      'The domains of these URLs with `listed`, separated by commas. Each is exact; with a dot in front, such as `.example.com`, everything below it counts as well.',
  }),
};

/** Reads both settings. */
export function readClientMetadata(
  environment: Readonly<Record<string, string | undefined>>,
  problems: string[],
): ClientMetadataSetting {
  const { clientMetadata, clientMetadataDomains } = clientMetadataVariables;
  const setting = {
    mode: clientMetadata.read(environment, problems) ?? 'off',
    domains: clientMetadataDomains.read(environment, problems) ?? [],
  } as const;
  if (setting.mode === 'listed' && setting.domains.length === 0) {
    problems.push(`${clientMetadata.name} is "listed", and no domain is listed. Set ${clientMetadataDomains.name}.`);
  }
  if (setting.mode !== 'listed' && setting.domains.length > 0) {
    problems.push(`${clientMetadataDomains.name} is of use only where ${clientMetadata.name} is listed. Remove it.`);
  }
  return setting;
}
