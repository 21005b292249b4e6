import { describe, expect } from 'vitest';
import { CANDIDATES_LEASE } from '../../src/controllers/fence/handover/candidates.ts';
import { LEADER_LEASE, LEADER_MODE, LEADER_NODE } from '../../src/manager/composition.ts';
import { LEASES } from '../../src/ports/resources.ts';
import { FENCE_NAMESPACE } from './configuration.ts';
import { replicated, TAKE_OVER_MS, terms } from './replicated-world.ts';
import type { Replicated } from './replicated-world.ts';
import { until } from './waiting.ts';

function announced({ world }: Replicated, node: string): Promise<true> {
  return until(
    `a candidate on node ${node} has announced itself`,
    async () => {
      const lease = await world.cluster.get(LEASES, CANDIDATES_LEASE, FENCE_NAMESPACE);
      return Object.values(lease?.metadata.annotations ?? {}).some((text) => text.includes(`"node":"${node}"`)) ? true : undefined;
    },
    30_000,
  );
}

describe.concurrent('the node that the leader runs on fails, and the leader lives', () => {
  replicated(
    'it hands over to the replica on a healthy node, which fences the node; leadership moves once',
    240_000,
    async (play) => {
      const { world, operator, leader, standby } = play;
      await announced(play, 'b');
      world.machine('a').panic();
      expect(await leader.exit()).toBe(0);
      expect(leader.logged('leadership is handed over; the process ends')).toBe(true);
      expect(await operator.hears('NodeFence', 'node-fence-a', 'LeadershipHandedOver')).toContain('a replica on node b');
      await standby.says('leading', TAKE_OVER_MS);
      const second = terms(play)[1];
      const again = play.join('a');
      await operator.seesRecovery('a');
      // Its device may have been read before: the leader checks fence paths while nodes are well.
      const off = world.witness.deviceEvents('a').find(({ action }) => action === 'set');
      expect(off?.at).toBeGreaterThan(second?.fromMs ?? Infinity);
      expect(world.witness.sets('a')).toEqual(['off 204', 'on 204']);
      expect([terms(play).length, standby.ended, again.ended]).toEqual([2, undefined, undefined]);
      const lease = await world.cluster.get(LEASES, LEADER_LEASE, FENCE_NAMESPACE);
      expect(lease?.metadata.annotations).toMatchObject({ [LEADER_MODE]: 'enforce', [LEADER_NODE]: 'b' });
    },
    { ownNodes: ['a', 'b'] },
  );

  replicated(
    'it keeps leading and alarms as long as nobody else could lead, and hands over when somebody comes',
    300_000,
    async (play) => {
      const { world, operator, leader, standby } = play;
      // Also on node a: no better than the leader.
      expect(standby.ended).toBeUndefined();
      world.machine('a').panic();
      const words = await operator.hears('NodeFence', 'node-fence-a', 'OwnNodeCannotBeFenced');
      expect(words).toContain('none is alive on a healthy node');
      const status = await operator.sees('a', 'held', ({ hold }) => hold?.policy === 'own-node');
      expect(status.hold?.message).toContain('start one elsewhere');
      expect(terms(play)).toHaveLength(1);
      const third = play.join('b');
      expect(await leader.exit()).toBe(0);
      await third.says('leading', TAKE_OVER_MS);
      expect(standby.logged('leading')).toBe(false);
      await operator.seesRecovery('a');
      expect(terms(play)).toHaveLength(2);
    },
    { ownNodes: ['a', 'a'] },
  );
});
