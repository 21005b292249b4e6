/** The middle one by size, the greater of two middle ones; NaN of none. */
export function median(samples: readonly number[]): number {
  return samples.toSorted((left, right) => left - right)[Math.floor(samples.length / 2)] ?? Number.NaN;
}
