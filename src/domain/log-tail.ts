/** What is asked of a container's log: more than is kept, so that a secret that was cut in two is found before. */
export const LOG_WANTED = { tailLines: 50, limitBytes: 65_536 };
const TAIL_BYTES = 2_048;
/** A shorter value is found in any text. */
const SECRET_MIN_LENGTH = 3;
const HIDDEN = '***';

/** The end of a log, at most 2 KiB, without a value of the Secret, printable. */
export function tailOf(log: string, secrets: readonly string[]): string {
  let text = log;
  for (const secret of hideable(secrets)) text = text.replaceAll(secret, HIDDEN);
  const lines = text
    .split('\n')
    .map((line) => line.trimEnd().replaceAll(/\p{Cc}/gu, '?'))
    .filter((line) => line !== '');
  let tail = '';
  for (const line of lines.toReversed()) {
    const longer = tail === '' ? line : `${line}\n${tail}`;
    if (Buffer.byteLength(longer) > TAIL_BYTES) return tail === '' ? cut(line) : tail;
    tail = longer;
  }
  return tail;
}

/** The longest first, lest one that begins another leave its end. */
function hideable(secrets: readonly string[]): string[] {
  const lines = secrets.flatMap((secret) => [secret, ...secret.split('\n')]).map((secret) => secret.trim());
  return [...new Set(lines)].filter(({ length }) => length >= SECRET_MIN_LENGTH).toSorted((left, right) => right.length - left.length);
}

function cut(line: string): string {
  return Buffer.from(line).subarray(-TAIL_BYTES).toString();
}
