import type { OpenApiDocument } from '../src/openapi/document.ts';
import { AREAS } from '../src/platform/http/operation.ts';
import { adminDocument } from './api-types.ts';

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Every call of the admin API, by area, from its API document. */
const document = await adminDocument();

const titleOf = (area: string): string =>
  Object.entries(AREAS)
    .find(([name]) => name === area)?.[1][0]
    .replace(/^Admin: /, '') ?? area;

interface Call {
  readonly area: string;
  readonly row: string;
}

function callsOf({ paths = {} }: OpenApiDocument): readonly Call[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item?.[method];
      if (operation === undefined) return [];
      const [area = ''] = operation.tags ?? [];
      const call = `${method.toUpperCase()} ${path.replace('/api/v2/admin', '')}`;
      return [{ area, row: `| \`${call}\` | ${operation.summary} |` }];
    }),
  );
}

/** The page that lists them. */
export function adminCalls(note: string): string {
  const areas = Object.entries(Object.groupBy(callsOf(document), ({ area }) => area));
  const tables = areas.map(([area, calls = []]) =>
    [`## ${titleOf(area)}`, '', '| Call | What it does |', '|---|---|', ...calls.map(({ row }) => row)].join('\n'),
  );
  return `${note}

# Calls of the admin API

Every call of the [admin API](admin-api.md), below \`<base URL>/api/v2/admin\`. \`<base URL>/api\` of your server has the fields, the responses and an
example of each.

${tables.join('\n\n')}
`;
}
