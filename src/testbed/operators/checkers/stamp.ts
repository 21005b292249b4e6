/** RFC 3339 in whole seconds, as Kubernetes writes it. */
export function stamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** The same with microseconds, as Leases have it. */
export function microStamp(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
