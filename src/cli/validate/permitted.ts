import { ApiStatusError } from '../../ports/api-transport.ts';

/** Undefined where the right is missing, or the kind is not installed; every other failure rejects. */
export async function orUndefined<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ApiStatusError && (error.status === 403 || error.status === 404)) return undefined;
    throw error;
  }
}
