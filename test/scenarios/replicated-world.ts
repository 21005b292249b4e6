import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import type { TraceEvent } from '../../src/laws/trace.ts';
import { termsOf } from '../../src/drill/run/leaders.ts';
import type { Term } from '../../src/drill/run/leaders.ts';
import { CONFIG_MAPS, NODE_FENCE_REPORTS, SECRETS } from '../../src/ports/resources.ts';
import { TRUSTED_CA } from './bmc.ts';
import { rightConfiguration } from './configuration.ts';
import { Daemon } from './daemon.ts';
import { Operator } from './operator.ts';
import { ServedWorld } from './served-world.ts';
import { until } from './waiting.ts';
import { CONTROLLER_USER } from './witness.ts';
import type { World } from './world.ts';

/** A lease is 15 s; who takes over may have to wait for one, and for a busy computer. */
export const TAKE_OVER_MS = 60_000;

/** A cluster with two controllers as processes of their own, and a person who watches it. */
export interface Replicated {
  served: ServedWorld;
  world: World;
  operator: Operator;
  leader: Daemon;
  standby: Daemon;
  /** Another controller, on this node, or on none. */
  join: (ownNode?: string) => Daemon;
}

export interface ReplicatedOptions {
  /** Nodes that the leader and the standby run on; absent: on none. */
  ownNodes?: readonly [string, string];
}

/** One story with nodes `a` and `b` and two controllers; no law may be violated in it. */
export function replicated(name: string, timeout: number, play: (play: Replicated) => Promise<void>, { ownNodes }: ReplicatedOptions = {}): void {
  it.concurrent(name, { timeout }, async () => {
    const login = { username: 'fence', password: randomBytes(18).toString('base64url') };
    const served = await ServedWorld.start(['a', 'b'], login);
    const daemons: Daemon[] = [];
    try {
      await configure(served.world, login);
      const path = served.kubeconfig('controller', CONTROLLER_USER);
      const join = (ownNode?: string): Daemon => {
        const daemon = new Daemon(path, ['--mode', 'enforce', ...(ownNode === undefined ? [] : ['--own-node', ownNode])]);
        daemons.push(daemon);
        return daemon;
      };
      const leader = join(ownNodes?.[0]);
      await leader.says('leading');
      const standby = join(ownNodes?.[1]);
      await standby.says('starting');
      await Promise.all([standby.isReadyz(200), identitiesKnown(served.world)]);
      const { world } = served;
      await play({ served, world, operator: new Operator(world), leader, standby, join });
      const logs = daemons.map((daemon) => JSON.stringify(daemon.log)).join('\n');
      expect(world.witness.violations([login.password], { log: logs })).toEqual([]);
    } finally {
      await Promise.all(daemons.map((daemon) => daemon.kill()));
      await served.end();
    }
  });
}

/** Who has led so far, in order. */
export function terms({ world }: Replicated): Term[] {
  return termsOf(world.witness.trace);
}

/** Resolves with the first trace event that is so. */
export function seen<E extends TraceEvent>(
  { world }: Replicated,
  what: string,
  is: (event: TraceEvent) => event is E,
  withinMs = 30_000,
): Promise<E> {
  return until(what, async () => world.witness.trace.find(is), withinMs);
}

async function configure(world: World, login: { username: string; password: string }): Promise<void> {
  const { secrets, configMaps } = rightConfiguration(world.bmcs, { ...login, ca: TRUSTED_CA });
  for (const secret of secrets) await world.cluster.create(SECRETS, secret);
  for (const configMap of configMaps) await world.cluster.create(CONFIG_MAPS, configMap);
}

async function identitiesKnown(world: World): Promise<true> {
  return until('the identity of every node is on record', async () => {
    const reports = await world.cluster.list(NODE_FENCE_REPORTS);
    return reports.filter((report) => report.status?.identity !== undefined).length === world.bmcs.length ? true : undefined;
  });
}
