import { SystemClock } from '../../../runtime/system-clock.ts';
import { SystemRandom } from '../../../runtime/system-random.ts';
import type { WorldDependencies } from '../../../testbed/cluster/dependencies.ts';
import type { HealthChecker } from '../../run/cluster-session.ts';
import { ILLNESS } from '../illness.ts';
import type { FaultStage } from '../script.ts';

/** What a Node is unhealthy by, for those who are not ours. */
export const UNHEALTHY_WHEN = [{ type: ILLNESS, status: 'True', durationMs: 2_000 }] as const;

/** What somebody is given who is played in this process: the rights of that user, or those of an operator. */
export function dependenciesOf({ session }: Pick<FaultStage, 'session'>, user?: HealthChecker): WorldDependencies {
  const transport = user === undefined ? session.transport : session.transportOf(user);
  return { transport, clock: new SystemClock(), random: new SystemRandom(), trace: (event) => session.record(event) };
}

/** Plays somebody for as long as `story` takes. */
export async function whilePlayed<T>(actors: readonly { stop(): void }[], story: () => Promise<T>): Promise<T> {
  try {
    return await story();
  } finally {
    for (const actor of actors) actor.stop();
  }
}
