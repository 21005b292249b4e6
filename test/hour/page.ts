/** What a page lets be done: a command with what it says, a file that is written, or something that happens to the cluster. */
export type Act =
  | { kind: 'command'; command: string; said: string; line: number }
  | { kind: 'file'; name: string; text: string }
  | { kind: 'event'; words: readonly string[] };

const EVENT = /^<!-- hour: (.+) -->$/u;
const FENCE = /^ *```(\w*)$/u;
const NAMED = /^# (\S+\.yaml)$/u;
/** The wall time of a command, which stands behind it as a comment. */
const SECONDS = / {2,}# [\d.]+ s$/u;

/** The acts of a page in their order; its prose is none. */
export function actsOf(page: string): Act[] {
  const acts: Act[] = [];
  const lines = page.split('\n');
  for (let index = 0; index < lines.length; index += 1) {
    const [, event] = EVENT.exec(lines[index] ?? '') ?? [];
    if (event !== undefined) acts.push({ kind: 'event', words: event.split(' ') });
    const [, language] = FENCE.exec(lines[index] ?? '') ?? [];
    if (language === undefined) continue;
    const end = lines.indexOf('```', index + 1);
    acts.push(...blockActs(language, lines.slice(index + 1, end), index + 1));
    index = end;
  }
  return acts;
}

function blockActs(language: string, lines: readonly string[], first: number): Act[] {
  const [, name] = NAMED.exec(lines[0] ?? '') ?? [];
  if (language === 'yaml' && name !== undefined) return [{ kind: 'file', name, text: `${lines.join('\n')}\n` }];
  if (language !== 'console') return [];
  const starts = lines.flatMap((line, index) => (line.startsWith('$ ') ? [index] : []));
  return starts.map((start, place) => ({
    kind: 'command',
    command: (lines[start] ?? '').slice('$ '.length).replace(SECONDS, ''),
    said: lines
      .slice(start + 1, starts[place + 1] ?? lines.length)
      .join('\n')
      .trimEnd(),
    line: first + start,
  }));
}

/** What differs from one hour to the next, and says nothing of the product. */
const PASSING: readonly (readonly [RegExp, string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/gu, 'TIME'],
  [/\b\d\d:\d\d:\d\dZ/gu, 'TIME'],
  [/[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4} GMT/gu, 'TIME'],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gu, 'UUID'],
  [/127\.0\.0\.1:\d+/gu, 'SERVER'],
  [/(?<![\w.])(?:[~<]?\d+(?:\.\d+)? ?(?:ms|min|s|m|h|d))+\b/gu, 'SPAN'],
  // Of several calls at once, whichever was refused first.
  [/It said: .*/gu, 'It said so.'],
  [/\bread back \d+ times\b/gu, 'read back N times'],
  [/ +/gu, ' '],
];

/** The same words, without what passes: two that are equal then tell the same. */
export function lasting(said: string): string {
  return PASSING.reduce((text, [from, to]) => text.replaceAll(from, to), said)
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trim();
}
