import type { Found } from './search.ts';

/** What a search came to, in one line. */
export function countsLine({ states, transitions, rows, violations, endless }: Found): string {
  return `${states} states, ${transitions} transitions, ${rows.size} rows reached, ${violations.size} broken laws, ${endless.length} dead ends`;
}
