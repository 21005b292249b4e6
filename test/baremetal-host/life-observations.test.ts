import { beforeEach, describe, expect, it } from 'vitest';
import { LifeObservations } from '../../src/controllers/shared/baremetal-host/life-observations.ts';
import { ObjectCache } from '../../src/kube/lister.ts';
import type { Lease, Node } from '../../src/ports/objects.ts';
import { ManualClock } from '../../src/runtime/manual-clock.ts';

const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const namespace = 'kube-node-lease';

function lease(renewTime: string): Lease {
  return { metadata: { name: 'n', namespace }, spec: { renewTime } };
}

function node(status: 'True' | 'Unknown', lastHeartbeatTime: string): Node {
  return { metadata: { name: 'n', uid: 'u' }, spec: {}, status: { conditions: [{ type: 'Ready', status, lastHeartbeatTime }] } };
}

describe('signs of life of a Node', () => {
  let clock: ManualClock;
  let leases: ObjectCache<Lease>;
  let nodes: ObjectCache<Node>;
  let life: LifeObservations;

  beforeEach(() => {
    clock = new ManualClock({ monotonicMs: 100_000 });
    leases = new ObjectCache<Lease>({}, log);
    nodes = new ObjectCache<Node>({}, log);
    leases.put(lease('1'));
    nodes.put(node('True', '1'));
    life = new LifeObservations({ clock, leases, nodes });
    life.start();
    leases.synced = true;
  });

  it('are none that stood before anybody listened', () => {
    expect(life.lastLifeMs('n')).toBeUndefined();
  });

  it('are renewals of its Lease, when they are received', async () => {
    await clock.advance(10_000);
    leases.put(lease('2'));
    expect(life.lastLifeMs('n')).toBe(110_000);
    await clock.advance(10_000);
    leases.put({ ...lease('2'), metadata: { name: 'n', namespace, labels: { a: 'b' } } });
    expect(life.lastLifeMs('n')).toBe(110_000);
    expect(life.silentForMs('n')).toBe(10_000);
  });

  it('are renewals that only a consistent read shows yet', async () => {
    await clock.advance(10_000);
    life.seeLease(lease('1'));
    expect(life.lastLifeMs('n')).toBeUndefined();
    life.seeLease(lease('2'));
    expect(life.lastLifeMs('n')).toBe(110_000);
  });

  it('do not pile up where nodes come and go, and those of the living stay', async () => {
    await clock.advance(10_000);
    leases.put(lease('2'));
    for (let number = 0; number < 1_500; number += 1) {
      const metadata = { name: `spot-${number}`, namespace };
      leases.put({ metadata, spec: { renewTime: '1' } });
      leases.remove(`${namespace}/spot-${number}`);
    }
    expect(life.size).toBeLessThanOrEqual(1_001);
    expect(life.lastLifeMs('n')).toBe(110_000);
  });

  it('are heartbeats while it is Ready, and not what others write when they have heard nothing', async () => {
    await clock.advance(10_000);
    nodes.put(node('Unknown', '1'));
    expect(life.lastLifeMs('n')).toBeUndefined();
    nodes.put(node('True', '2'));
    expect(life.lastLifeMs('n')).toBe(110_000);
  });

  it('are the Lease of one that registers anew', async () => {
    leases.remove('kube-node-lease/n');
    await clock.advance(10_000);
    leases.put(lease('2'));
    expect(life.lastLifeMs('n')).toBe(110_000);
  });

  it('have been missing for as long as they could have been heard: not before anybody listened, nor across a gap of the watch', async () => {
    await clock.advance(30_000);
    expect(life.silentForMs('n')).toBe(30_000);
    leases.reopened(clock.monotonicMs());
    await clock.advance(5_000);
    expect(life.silentForMs('n')).toBe(5_000);
    expect(life.silentForMs('another')).toBe(0);
  });

  it('are not heard any more when it is closed', async () => {
    life.close();
    await clock.advance(10_000);
    leases.put(lease('2'));
    expect(life.lastLifeMs('n')).toBeUndefined();
  });
});
