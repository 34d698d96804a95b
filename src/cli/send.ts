/** A request to the admin API. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Below the path of the admin API, with its query. */
  readonly path: string;
  readonly body?: object | undefined;
  /** A body that is a file. */
  readonly file?: Uint8Array | undefined;
}

/** Sends a request to the admin API: in this process, or to a server elsewhere. Returns the JSON of the answer; throws its refusal. */
export type Send = (request: ApiRequest) => Promise<unknown>;

/** The type of the file of a request. The server goes by the first bytes of a file, whatever type is announced. */
export const FILE_TYPE = 'image/png';
