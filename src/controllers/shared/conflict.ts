import { ApiStatusError, TransportError } from '../../ports/api-transport.ts';

/** The object is another than the decision was made for: nothing was written, and it is decided anew. */
export class Conflict extends Error {
  override readonly name = 'Conflict';
}

/** The API server has said no to what was asked, not that it could not do it just now. */
export function wasRefused(error: unknown): error is ApiStatusError {
  return error instanceof ApiStatusError && error.status >= 400 && error.status < 500 && error.status !== 409 && error.status !== 429;
}

/** What failed, in words for people: where a right is lacking with what gives it. */
export function failureWords(error: unknown, mend: string | undefined): string {
  const message = error instanceof Error ? error.message : String(error);
  return error instanceof ApiStatusError && error.status === 403 && mend !== undefined ? `${message} (mend it: ${mend})` : message;
}

/** The API server says that somebody else wrote first, or that it is gone. */
export function isWriteConflict(error: unknown): boolean {
  return error instanceof ApiStatusError && (error.status === 409 || error.status === 404);
}

/** It was not answered, or not just now: the next try may succeed. */
export function isPassing(error: unknown): boolean {
  return error instanceof TransportError || (error instanceof ApiStatusError && !wasRefused(error));
}

/** It is decided anew, from what stands now. */
export function isConflict(error: unknown): boolean {
  return error instanceof Conflict || isWriteConflict(error);
}
