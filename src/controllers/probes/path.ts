import type { DevicePath } from '../../domain/device-paths.ts';
import type { Plan } from '../../domain/plan.ts';
import type { ProbeAnswer } from '../../ports/probes.ts';
import type { ProbedDevice } from '../../ports/resources.ts';

/** One plug of one node that is read again and again. */
export interface Path extends DevicePath {
  node: string;
  /** Which it is a path of. One that is the same object has the same paths. */
  plan: Plan;
  intervalMs: number;
  /** Monotonic. */
  dueAtMs: number;
  /** When it was last read; until then, since when it is known. */
  readAtMs: number;
  isRead: boolean;
  /** The last read showed a fault. */
  isBroken: boolean;
  /** It shows another certificate or host key than the one on record. */
  isStranger?: boolean;
  /** Why it was not read. */
  refusal?: ProbeAnswer | undefined;
  /** When its device was last called for a fence that is about to need it; monotonic. */
  warmedAtMs?: number;
  /** How many reads in a row did. */
  failures: number;
  /** Milliseconds since 1970 at which the first of its certificate and its credential ends. */
  expiresAtMs?: number;
}

/** Steps of the spread. */
const SPREAD = 4_096;

/**
 * A place for a new path within its interval, the same after each start (FNV-1a): a fleet's devices are never read all at once, and a new leader keeps the order.
 */
export function spreadMs(node: string, key: string, intervalMs: number): number {
  let hash = 0x811c9dc5;
  for (const character of `${node} ${key}`) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return ((hash % SPREAD) / SPREAD) * intervalMs;
}

/** Is this entry of the report about that path? */
export function isOf({ agent, device, plug }: ProbedDevice, { method }: Pick<Path, 'method'>): boolean {
  return agent === method.agent && device === method.device && plug === method.plug;
}
