const LEFT_OFF = 'LeftOff: ';

/** A problem of a machine that is off by us: a person has to see it for as long as it lasts. */
export function leftOff(words: string): string {
  return LEFT_OFF + words;
}

export function isLeftOff(problem: string): boolean {
  return problem.includes(LEFT_OFF);
}
