import type { ColumnTypes } from './timeline.ts';

/**
 * Where public clients run in a browser. It follows from their redirect URIs, which one statement cannot take apart on both
 * databases: the first start after this writes it down.
 */
export const clientOrigins = ({ int, options }: ColumnTypes): readonly string[] => [
  `CREATE TABLE client_origin (
    origin TEXT NOT NULL,
    client_id ${int} NOT NULL REFERENCES client (id) ON DELETE CASCADE,
    PRIMARY KEY (origin, client_id)
  ) ${options}`,
  'CREATE INDEX client_origin_by_client ON client_origin (client_id)',
];
