const COLOURS: Readonly<Record<string, number>> = { debug: 90, info: 36, warn: 33, error: 31 };
const HIDDEN: ReadonlySet<string> = new Set(['time', 'level', 'message', 'pid', 'hostname', 'component', 'version']);

/** Controls of a terminal, ends of lines that JSON leaves as they are, and signs that turn the direction of what follows. */
const UNSEEN = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** A JSON log line as people read it: time, level, message, then `name=value`. A line that is no JSON stays as it is. */
export function prettyLine(line: string, isColoured: boolean): string {
  let fields: Record<string, unknown>;
  try {
    fields = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  const level = String(fields['level']);
  const paint = (code: number, text: string): string => (isColoured ? `\u001b[${String(code)}m${text}\u001b[0m` : text);
  const rest = Object.entries(fields)
    .filter(([name]) => !HIDDEN.has(name))
    .map(([name, value]) => `${paint(90, `${seen(name)}=`)}${seen(short(value))}`);
  const time = String(fields['time']).slice(11, 23);
  return `${[paint(90, time), paint(COLOURS[level] ?? 0, level.toUpperCase().padEnd(5)), seen(String(fields['message'])), ...rest].join(' ')}\n`;
}

function short(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'message' in value && 'stack' in value) {
    return JSON.stringify(value.message);
  }
  return typeof value === 'string' && /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
}

/** A device or a node writes no line of its own, and moves no cursor. */
function seen(text: string): string {
  return text.replace(UNSEEN, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
