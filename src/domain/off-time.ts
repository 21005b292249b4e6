import type { Timing } from './plan.ts';

/** What a fence waits for before its first off. */
export type OffDelays = Pick<Timing, 'isolationDelayMs' | 'powerManagementDelayMs'>;

/** Why no fence with these delays is proven off within that time, in words; undefined: it may be. */
export function offTimeTooShort(powerOffTimeoutMs: number, { isolationDelayMs, powerManagementDelayMs }: OffDelays): string | undefined {
  if (powerOffTimeoutMs > isolationDelayMs + powerManagementDelayMs) return undefined;
  const [own, isolation, power] = [powerOffTimeoutMs, isolationDelayMs, powerManagementDelayMs].map((ms) => `${ms / 1000} s`);
  const delays = `isolation_delay (${isolation}) and power_management_delay (${power}) of its node are over`;
  return `powerOffTimeoutSeconds (without it timeoutSeconds) is ${own}, and nothing is switched off before ${delays}: every try fails. Raise it, or lower the delays`;
}
