/** Number of letters to add, drop, change or swap with their neighbour to make one word of the other. */
function distance(one: string, other: string): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isSame = one[i - 1] === other[j - 1];
      const isSwapped = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const cheapest = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (isSame ? 0 : 1));
      next.push(isSwapped ? Math.min(cheapest, (before[j - 2] ?? 0) + 1) : cheapest);
    }
    before = row;
    row = next;
  }
  return row[other.length] ?? 0;
}

const WORD_MAX = 64;

/** The known name that was most likely meant; undefined when none is near: a third of the letters at most may be wrong, and three. */
export function nearest(written: string, known: Iterable<string>): string | undefined {
  const spelling = (text: string): string => text.toLowerCase().replaceAll('-', '_');
  const word = spelling(written).slice(0, WORD_MAX);
  let best: { name: string; away: number } | undefined;
  for (const name of known) {
    const most = Math.min(3, Math.floor(Math.max(word.length, name.length) / 3));
    // Each letter too many is one away: most names need no closer look, and each probe of a device asks.
    if (Math.abs(word.length - name.length) > most) continue;
    const away = distance(word, spelling(name));
    if (away <= most && (best === undefined || away < best.away)) best = { name, away };
  }
  return best?.name;
}

/** `did you mean power_timeout?`, or what is said otherwise. */
export function didYouMean(written: string, known: Iterable<string>, otherwise: string): string {
  const name = nearest(written, known);
  return name === undefined ? otherwise : `did you mean ${name}?`;
}
