import { createHash, randomUUID } from 'node:crypto';

/**
 * By which the cloud does a set once, however often it is sent: the same for whoever goes on with the same intent, another one for every other. A UUID as
 * RFC 9562 makes one of a name, for the API takes nothing else.
 */
export function requestIdOf(intent: string | undefined, instanceId: string, state: 'on' | 'off' | 'gone'): string {
  if (intent === undefined) return randomUUID();
  const digits = createHash('sha256').update(`nodefence ${intent} ${instanceId} ${state}`).digest('hex');
  return [digits.slice(0, 8), digits.slice(8, 12), `5${digits.slice(13, 16)}`, `a${digits.slice(17, 20)}`, digits.slice(20, 32)].join('-');
}
