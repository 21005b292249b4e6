/** RFC 3339 with whole seconds, as metav1.Time is written. */
export function seconds(wallMs: number): string {
  return new Date(wallMs - (((wallMs % 1000) + 1000) % 1000)).toISOString().replace('.000Z', 'Z');
}

/** How long ago, in the words of kubectl: `5s`, `3m12s`, `4h`, `2d3h`. */
export function age(fromMs: number, nowMs: number): string {
  const total = Math.floor((nowMs - fromMs) / 1000);
  if (total < -1) return '<invalid>';
  if (total < 0) return '0s';
  if (total < 120) return `${String(total)}s`;
  const minutes = Math.floor(total / 60);
  if (minutes < 10) return pair(minutes, 'm', total % 60, 's');
  if (minutes < 180) return `${String(minutes)}m`;
  const hours = Math.floor(total / 3600);
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${String(hours)}h`;
  if (hours < 192) return pair(Math.floor(hours / 24), 'd', hours % 24, 'h');
  const days = Math.floor(hours / 24);
  if (days < 730) return `${String(days)}d`;
  return days < 2920 ? pair(Math.floor(days / 365), 'y', days % 365, 'd') : `${String(Math.floor(days / 365))}y`;
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${String(large)}${largeUnit}` : `${String(large)}${largeUnit}${String(small)}${smallUnit}`;
}
