/** Counters that tell of a control plane that is away, and of a leader that has lost it. */
const COUNTED =
  /^nodefence_(watch_ends_total\{.*end="(?:refused|expired|dropped|idle|list-failed|error-event)".*\}|lease_renewal_failures_total) (\d+)$/u;
const LOUD: ReadonlySet<string> = new Set(['warn', 'error']);

interface Line {
  time: string;
  level: string;
  message: string;
}

/** Counters of these pages that are not zero, summed over what they are about. */
export function countersOf(metrics: string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const line of metrics.split('\n')) {
    const [, series = '', count = '0'] = COUNTED.exec(line) ?? [];
    const end = /end="([a-z-]+)"/u.exec(series)?.[1];
    const name = end === undefined ? 'lease_renewal_failures_total' : `watch_ends_total{end="${end}"}`;
    if (series !== '') sums.set(name, (sums.get(name) ?? 0) + Number(count));
  }
  return sums;
}

/** What an operator can see of it: counters that have grown, and what stands as a warning or an error in a log since then. */
export function toldOf(before: string, after: string, logs: readonly string[], sinceMs: number): string[] {
  const past = countersOf(before);
  const grown = [...countersOf(after)].map(([name, count]) => [name, count - (past.get(name) ?? 0)] as const).filter(([, count]) => count > 0);
  const lines = logs
    .flatMap((log) => log.split('\n').filter((line) => line.startsWith('{') && line.endsWith('}')))
    .map((line) => JSON.parse(line) as Line);
  const loud = lines.filter(({ time, level }) => LOUD.has(level) && Date.parse(time) >= sinceMs).map(({ level, message }) => `${level} "${message}"`);
  return [...grown.map(([name, count]) => `\`${name}\` +${count}`), ...new Set(loud)];
}
