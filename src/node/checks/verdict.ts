/** What a check found. `unknown`: it could not look, and says why. */
export interface Verdict {
  health: 'ok' | 'problem' | 'unknown';
  /** One plain sentence; what matters stands at its beginning, because readers cut its end. */
  sentence: string;
}

/** Exit codes of a custom plugin of node-problem-detector. */
export const EXIT_CODES: Readonly<Record<Verdict['health'], number>> = { ok: 0, problem: 1, unknown: 2 };

/** node-problem-detector cuts what a plugin says after so many bytes, be it in the middle of a letter. */
export const LINE_MAX = 80;

export const ok = (sentence: string): Verdict => ({ health: 'ok', sentence });
export const problem = (sentence: string): Verdict => ({ health: 'problem', sentence });
export const unknown = (why: string): Verdict => ({ health: 'unknown', sentence: `not checked: ${why}` });

/** One line of printable ASCII, so that letters are bytes; what does not fit ends with `...`. */
export function lineOf({ sentence }: Verdict): string {
  const line = sentence
    .replaceAll(/\s+/gu, ' ')
    .trim()
    .replaceAll(/[^\x20-\x7e]/gu, '?');
  return line.length <= LINE_MAX ? line : `${line.slice(0, LINE_MAX - 3)}...`;
}

/** A text of a device or a file, as part of a sentence. */
export function quoted(text: string, most = 60): string {
  const line = text
    .replaceAll(/\s+/gu, ' ')
    .trim()
    .replaceAll(/[^\x20-\x7e]/gu, '?');
  return line.length <= most ? line : `${line.slice(0, most - 3)}...`;
}

/** `1 path`, `2 paths`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
