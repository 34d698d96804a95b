import { LARGEST_PICTURE, type Picture, type PictureProblem, type Pictures } from '../../pictures/pictures.ts';
import { SECOND } from '../../platform/clock.ts';
import { Failure } from '../../platform/failure.ts';
import { type Outgoing, type OutgoingAnswer, OutgoingFailed } from '../../platform/http/outgoing.ts';

/** How long the server of a picture may take: the person waits for it. */
const PICTURE_TIMEOUT = 3 * SECOND;

interface PictureServices {
  readonly outgoing: Outgoing;
  readonly pictures: Pictures;
}

/** Why a picture cannot be had. */
export interface NoPicture {
  /** In words for operators. */
  readonly problem: string;
  /** This server is busy: nothing is wrong with the picture. */
  readonly isBusy?: true;
}

/**
 * Fetches the picture that an upstream names, and converts it as one that is uploaded: within the same bounds, and with nothing but its
 * pixels. The person may have chosen its address, so that only the host of the upstream itself may be in a network of the operator.
 * @param issuer of the upstream
 * @param flows see {@link Pictures.convert}
 */
export async function fetchPicture(
  { outgoing, pictures }: PictureServices,
  { issuer, address, flows }: { readonly issuer: string; readonly address: string; readonly flows: readonly string[] },
): Promise<Picture | NoPicture> {
  const publicOnly = URL.parse(issuer)?.origin !== URL.parse(address)?.origin;
  const bounds = { longestBody: LARGEST_PICTURE, timeoutMs: PICTURE_TIMEOUT };
  let answer: OutgoingAnswer;
  try {
    const headers = { accept: 'image/webp, image/png, image/jpeg' };
    answer = await outgoing({ method: 'GET', url: address, headers, publicOnly, ...bounds });
  } catch (error) {
    if (error instanceof OutgoingFailed) return { problem: error.message };
    throw error;
  }
  if (answer.status !== 200) return { problem: `the answer has the status ${answer.status}, not 200` };
  try {
    const picture = await pictures.convert(answer.body, flows);
    return typeof picture === 'string' ? { problem: PROBLEMS[picture] } : picture;
  } catch (error) {
    if (error instanceof Failure && error.kind === 'unavailable') {
      return { problem: error.message, isBusy: true };
    }
    throw error;
  }
}

const PROBLEMS: Readonly<Record<PictureProblem, string>> = {
  empty: 'the answer is empty',
  'too large': `the answer is longer than ${LARGEST_PICTURE} bytes`,
  'unsupported format': 'the answer is no JPEG, PNG or WebP file',
  broken: 'the file is damaged or not whole',
  'too many pixels': 'the picture has too many pixels: 4096 by 4096 are enough',
};
