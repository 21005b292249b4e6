const LENGTH_MAX = 500;

/** Why a drill could not be played, in one line: what failed, and the last thing that it said. */
export function whyLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const lines = message.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  const [first = 'nothing is known'] = lines;
  const last = lines.at(-1);
  const words = last === undefined || last === first ? first : `${first.replace(/:$/u, '')}: … ${last}`;
  return `the drill failed: ${words.slice(0, LENGTH_MAX)}`;
}
