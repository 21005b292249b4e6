import { beforeEach, describe, expect, it } from 'vitest';
import { bent, installedCluster } from '../../../../test/scenarios/installed-cluster.ts';
import { fenceName } from '../../../domain/node-fence.ts';
import { ObjectCache } from '../../../kube/lister.ts';
import { TransportError } from '../../../ports/api-transport.ts';
import type { Cluster, Resource } from '../../../ports/cluster.ts';
import type { Lease, Node } from '../../../ports/objects.ts';
import { LEASES, NODE_FENCES, NODES } from '../../../ports/resources.ts';
import type { NodeFence } from '../../../ports/resources.ts';
import { ManualClock } from '../../../runtime/manual-clock.ts';
import { LeasePlace } from './lease-place.ts';
import { NodeLeases } from './node-leases.ts';
import { NodeLock } from './node-lock.ts';

const NAMESPACES: Resource = { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces', namespaced: false };
const NAMESPACE = 'medik8s-leases';
const HOLDER = 'nodefence-machine-remediation';
const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };

describe('the lock of a node without a NodeFence', () => {
  let clock: ManualClock;
  let cluster: Cluster;

  beforeEach(async () => {
    clock = new ManualClock();
    cluster = await installedCluster();
    await cluster.create(NAMESPACES, { metadata: { name: NAMESPACE } });
    await cluster.create(NODES, { metadata: { name: 'a' }, spec: {}, status: {} });
  });

  const lockOf = (reached: Cluster = cluster): NodeLock => new NodeLock({ cluster: reached, clock, namespace: NAMESPACE, holder: HOLDER });
  const standing = (): Promise<Lease | undefined> => cluster.get(LEASES, 'node-a', NAMESPACE);
  const fenced = (): Promise<NodeFence> => cluster.create(NODE_FENCES, { metadata: { name: fenceName('a') }, spec: { node: 'a' } });

  /** The fence controller's side of the same Lease. */
  function fencer(): NodeLeases {
    const listers = { leases: new ObjectCache<Lease>({}, log), nodes: new ObjectCache<Node>({}, log), fences: new ObjectCache<NodeFence>({}, log) };
    return new NodeLeases({
      cluster,
      clock,
      log,
      place: new LeasePlace({ cluster, clock, log, namespace: NAMESPACE }),
      ...listers,
      leadership: { isLeading: true },
      namespace: NAMESPACE,
      wake: quiet,
    });
  }

  it('is taken where nobody has the node, and given back', async () => {
    const lock = lockOf();
    expect(await lock.take('a', false)).toBeUndefined();
    expect((await standing())?.spec).toMatchObject({ holderIdentity: HOLDER, leaseDurationSeconds: 300 });
    await lock.giveBack('a');
    expect(await standing()).toBeUndefined();
  });

  it('keeps the fence controller off the node', async () => {
    await lockOf().take('a', false);
    expect(await fencer().take('a', undefined)).toContain(`of ${HOLDER} is held`);
  });

  it('is not to be had while the fence controller has it, and is once that is given back', async () => {
    const leases = fencer();
    expect(await leases.take('a', undefined)).toBeUndefined();
    const lock = lockOf();
    expect(await lock.take('a', false)).toContain('of nodefence is held');
    await cluster.remove(LEASES, 'node-a', { namespace: NAMESPACE });
    expect(await lock.take('a', false)).toBeUndefined();
  });

  it('is refused while a NodeFence of the node is open, without touching the Lease', async () => {
    await fenced();
    expect(await lockOf().take('a', false)).toContain('the fence controller');
    expect(await standing()).toBeUndefined();
  });

  it('is given back when a fence began between the look and the Lease', async () => {
    const late = bent(cluster, {
      create: async (resource, object) => {
        if (resource.plural === LEASES.plural) await fenced();
        return cluster.create(resource, object);
      },
    });
    expect(await lockOf(late).take('a', false)).toContain('the fence controller');
    expect(await standing()).toBeUndefined();
  });

  it('stays ours under a fence that began since: that waits for us', async () => {
    const lock = lockOf();
    await lock.take('a', false);
    await fenced();
    expect(await lock.take('a', true)).toBeUndefined();
  });

  it('is taken up by a successor, and renewed when a third of its time is over', async () => {
    await lockOf().take('a', false);
    const { renewTime } = (await standing())?.spec ?? {};
    const successor = lockOf();
    expect(await successor.take('a', true)).toBeUndefined();
    expect((await standing())?.spec.renewTime).toBe(renewTime);
    await clock.advance(100_000);
    expect(await successor.take('a', true)).toBeUndefined();
    expect((await standing())?.spec).toMatchObject({ leaseTransitions: 0 });
    expect((await standing())?.spec.renewTime).not.toBe(renewTime);
  });

  it('of somebody else is taken over when it was not renewed for its whole duration, on our own clock', async () => {
    const spec = { holderIdentity: 'node-maintenance', leaseDurationSeconds: 60, renewTime: '2001-01-01T00:00:00.000000Z', leaseTransitions: 4 };
    await cluster.create(LEASES, { metadata: { name: 'node-a', namespace: NAMESPACE }, spec });
    const lock = lockOf();
    expect(await lock.take('a', false)).toContain('of node-maintenance is held');
    await clock.advance(59_000);
    expect(await lock.take('a', false)).toContain('of node-maintenance is held');
    await clock.advance(2_000);
    expect(await lock.take('a', false)).toBeUndefined();
    expect((await standing())?.spec).toMatchObject({ holderIdentity: HOLDER, leaseTransitions: 5 });
  });

  it('gives back nothing of somebody else', async () => {
    await fencer().take('a', undefined);
    await lockOf().giveBack('a');
    expect((await standing())?.spec.holderIdentity).toBe('nodefence');
  });

  it('is not to be had where there is no namespace for it: nobody would be kept off', async () => {
    const lock = new NodeLock({ cluster, clock, namespace: 'nowhere', holder: HOLDER });
    expect(await lock.take('a', false)).toContain('can not be taken');
  });

  it('is not known where the API server does not answer', async () => {
    const deaf = bent(cluster, { get: () => Promise.reject(new TransportError('timeout', 'no answer')) });
    await expect(lockOf(deaf).take('a', false)).rejects.toThrow('no answer');
  });

  it('is had by one of two who write at the same time', async () => {
    const other = new NodeLock({ cluster, clock, namespace: NAMESPACE, holder: 'nodefence-metal3-remediation' });
    const answers = await Promise.all([lockOf().take('a', false), other.take('a', false)]);
    expect(answers.filter((answer) => answer === undefined)).toHaveLength(1);
  });
});
