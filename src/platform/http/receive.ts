import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { invalidRequest, OAuthError } from '../oauth-error.ts';

const tooLarge = (most: number) =>
  new OAuthError(413, 'invalid_request', `The body is larger than ${most / 1024} KiB, and no more is read here.`);

/**
 * The whole body of a request. It is copied together as it comes: kept in the pieces in which it came, one that is sent byte by
 * byte would take two hundred times its size.
 * @param longest how many bytes it may have
 * @param patience how many bytes are read, and dropped, of one that has more
 * @returns undefined where it had more than it may have
 * @throws {OAuthError} 413 where it has more than is read; 400 where it did not come to its end
 */
export function receive(
  { headers }: FastifyRequest,
  payload: Readable,
  longest: number,
  patience = longest,
): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    let whole = Buffer.alloc(0);
    let size = 0;
    const refuse = () => {
      payload.off('data', take);
      reject(tooLarge(patience));
    };
    const take = (piece: Buffer) => {
      const before = size;
      size += piece.length;
      if (size > patience) refuse();
      else if (size > longest) whole = Buffer.alloc(0);
      else {
        if (size > whole.length) whole = larger(whole, Math.min(longest, Math.max(size, whole.length * 2)));
        piece.copy(whole, before);
      }
    };
    const cut = () => reject(invalidRequest('The body did not arrive as a whole.'));
    if (Number(headers['content-length']) > patience) return refuse();
    // Its caller hung up before anybody listened, and nothing will be told again.
    if (payload.destroyed) return cut();
    payload.on('data', take);
    payload.on('error', cut);
    payload.on('close', cut);
    payload.on('end', () => {
      // It comes after every end.
      payload.off('close', cut);
      resolve(size > longest ? undefined : whole.subarray(0, size));
    });
  });
}

function larger(bytes: Buffer<ArrayBuffer>, length: number): Buffer<ArrayBuffer> {
  const copied = Buffer.allocUnsafe(length);
  bytes.copy(copied);
  return copied;
}
