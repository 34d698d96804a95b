/** A request to the admin API. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the path of the admin API, with its query. */
  readonly path: string;
  readonly body?: object | undefined;
  /** The version that the record must have: its `ETag`. */
  readonly ifMatch?: string | undefined;
  /** A body that is a file. */
  readonly file?: Uint8Array | undefined;
}

/** What the admin API answers: JSON, and the version of the record if it is one that has versions. */
export interface ApiAnswer {
  readonly body: unknown;
  readonly etag?: string | undefined;
}

/** Sends a request to the admin API: in this process, or to a server elsewhere. Throws a refusal. */
export type Send = (request: ApiRequest) => Promise<ApiAnswer>;

/** The type of the file of a request. The server goes by the first bytes of a file, whatever type is announced. */
export const FILE_TYPE = 'image/png';
