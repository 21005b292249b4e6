/** How long to wait after so many failures in a row (from 1), in milliseconds: twice as long after each that follows, and `mostMs` at most. */
export function backOffMs(failures: number, firstMs: number, mostMs: number): number {
  return Math.min(mostMs, firstMs * 2 ** Math.min(30, Math.max(0, failures - 1)));
}
