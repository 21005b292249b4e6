import { beforeEach, describe, expect, it } from 'vitest';
import type { Cluster } from '../../ports/cluster.ts';
import type { KubeObject, Lease, ManagedFields } from '../../ports/objects.ts';
import type { NodeFence } from '../../ports/resources.ts';
import type { ProofRead } from '../../ports/proof-reads.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { FakeLister } from '../fence/testing/harness.ts';
import { ConsistentProofs } from './consistent-proof.ts';

const NODE = { name: 'n', uid: 'uid-n' };
const SECOND_MS = 1_000;
const quiet = (): void => undefined;
const LOG = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const READER = {
  readAnew: (): Promise<ProofRead> => {
    reads += 1;
    return Promise.resolve(device());
  },
};
const UNKNOWN = 'it is not known yet that its lease was not renewed since';
const RENEWED = 'its lease was renewed after the proof';

class Fences extends FakeLister<NodeFence> {
  tell: (before: NodeFence | undefined, after: NodeFence | undefined) => void = quiet;

  override onChange(listener: Fences['tell'] = quiet): () => void {
    this.tell = listener;
    return quiet;
  }
}

let clock: ManualClock;
let objects: Map<string, KubeObject>;
let fences: Fences;
let leases: FakeLister<Lease>;
let proofs: ConsistentProofs;
let isAnswering: boolean;
let reads: number;
/** What the device says when it is read once more, and what happens meanwhile. */
let device: () => ProofRead;

beforeEach(() => {
  clock = new ManualClock();
  objects = new Map<string, KubeObject>([['nodes/n', { metadata: NODE, spec: {}, status: {} } as KubeObject]]);
  [fences, leases, isAnswering, reads] = [new Fences(), new FakeLister<Lease>(), true, 0];
  device = () => ({ atMs: 7 });
  const get = (resource: { plural: string }, name: string): Promise<unknown> =>
    isAnswering ? Promise.resolve(objects.get(`${resource.plural}/${name}`)) : Promise.reject(new Error('no answer'));
  proofs = new ConsistentProofs({ clock, cluster: { get: get as Cluster['get'] }, log: LOG, listers: { fences, leases }, reader: READER });
  proofs.start();
});

function fenceOf(job: string, managedFields: ManagedFields[] = []): NodeFence {
  const evidence = [{ kind: 'power-off', grade: 'read-back', source: job, detail: 'off', observedAt: '2027-01-01T00:00:00Z' }];
  const status = { state: 'final', evidence, journal: [], restarts: 0, frozen: { nodeUID: 'uid-n', plan: { minimumEvidence: ['power-off'] } } };
  return { metadata: { name: 'node-fence-n', uid: 'f', managedFields }, spec: { node: 'n' }, status } as unknown as NodeFence;
}

/** By the kubelet's clock, which is wrong. */
function leaseOf(renewal: number, managedFields: ManagedFields[] = []): Lease {
  const renewTime = new Date(Date.UTC(2030, 0, 1) + renewal * 10 * SECOND_MS).toISOString();
  return { metadata: { name: 'n', namespace: 'kube-node-lease', uid: 'l', managedFields }, spec: { renewTime } };
}

function stands(renewal: number, { isWatched = true } = {}): void {
  objects.set('leases/n', leaseOf(renewal));
  if (isWatched) leases.items = [leaseOf(renewal)];
}

/** The watch brings the proof. */
async function proven(job = 'j'): Promise<void> {
  const before = objects.get('nodefences/node-fence-n') as NodeFence | undefined;
  objects.set('nodefences/node-fence-n', fenceOf(job));
  fences.tell(before, fenceOf(job));
  await clock.advance(1);
}

const why = (): Promise<string | undefined> => proofs.unprovenBecause(NODE, 'isOff');

describe('a proof that comes while this process watches', () => {
  it('stands at once where the Lease has not changed since, whatever the clock of the kubelet says', async () => {
    stands(1);
    await proven();
    expect(await why()).toBeUndefined();
  });

  it('is void for good when the Lease is renewed after it, also when that is long ago', async () => {
    stands(1);
    await proven();
    stands(2);
    await clock.advance(600 * SECOND_MS);
    expect(await why()).toContain(RENEWED);
    await clock.advance(600 * SECOND_MS);
    expect(await why()).toContain(RENEWED);
  });

  it('stands again when another one is there', async () => {
    stands(1);
    await proven();
    stands(2);
    expect(await why()).toContain(RENEWED);
    await proven('another');
    expect(await why()).toBeUndefined();
  });

  it('waits for silence where the watch had not brought the renewal yet: nobody knows whether it was before', async () => {
    stands(1);
    stands(2, { isWatched: false });
    await proven();
    expect(await why()).toContain(UNKNOWN);
    await clock.advance(41 * SECOND_MS);
    expect(await why()).toBeUndefined();
  });

  it('waits for silence where the watch was opened anew: the proof may be older than what it had of the Lease', async () => {
    stands(1);
    await clock.advance(100 * SECOND_MS);
    fences.freshSinceMs = clock.monotonicMs();
    await proven();
    expect(await why()).toContain(UNKNOWN);
  });

  it('is looked at when it is needed where the Lease could not be read', async () => {
    stands(1);
    isAnswering = false;
    await proven();
    isAnswering = true;
    expect(await why()).toBeUndefined();
  });
});

describe('a proof that stood already', () => {
  beforeEach(() => {
    stands(1);
    objects.set('nodefences/node-fence-n', fenceOf('j'));
  });

  it('needs a Lease that is seen to stand still for so long that a kubelet would have renewed it', async () => {
    expect(await why()).toContain(UNKNOWN);
    await clock.advance(39 * SECOND_MS);
    expect(await why()).toContain(UNKNOWN);
    await clock.advance(2 * SECOND_MS);
    expect(await why()).toBeUndefined();
    stands(2);
    expect(await why()).toContain(RENEWED);
  });

  it('does not count the time in which the API server was away', async () => {
    expect(await why()).toContain(UNKNOWN);
    await clock.advance(41 * SECOND_MS);
    leases.freshSinceMs = clock.monotonicMs() - 5 * SECOND_MS;
    expect(await why()).toContain(UNKNOWN);
    await clock.advance(36 * SECOND_MS);
    expect(await why()).toBeUndefined();
  });

  it('stands where there is no Lease, and not where one comes', async () => {
    objects.delete('leases/n');
    expect(await why()).toBeUndefined();
    stands(2);
    expect(await why()).toContain(RENEWED);
  });

  it('is void where the API server has stamped the Lease after the last status of the fence', async () => {
    const status = { manager: 'nodefence', subresource: 'status', time: '2027-01-01T00:00:10Z' };
    const stamped = (time: string): void => void objects.set('leases/n', leaseOf(1, [{ manager: 'kubelet', time }]));
    objects.set('nodefences/node-fence-n', fenceOf('j', [{ manager: 'someone', time: '2027-01-01T00:00:40Z' }, status]));
    stamped('2027-01-01T00:00:10Z');
    expect(await why()).toContain(UNKNOWN);
    stamped('2027-01-01T00:00:20Z');
    expect(await why()).toContain(RENEWED);
  });

  it('is not that of a Node whose name another one has now', async () => {
    objects.delete('leases/n');
    expect(await why()).toBeUndefined();
    objects.set('nodes/n', { metadata: { name: 'n', uid: 'another' }, spec: {}, status: {} } as KubeObject);
    expect(await why()).toBe('its Node was deleted, or replaced under the same name');
  });
});

describe('a proof on which something is to rest now', () => {
  const anew = (): Promise<ProofRead> => proofs.readAnew(NODE, 'isOff');

  beforeEach(async () => {
    stands(1);
    await proven();
  });

  it('is read anew at the device, and says when that was', async () => {
    expect(await anew()).toEqual({ atMs: 7 });
  });

  it('is none where the device says otherwise', async () => {
    device = () => ({ doubt: 'it reads on' });
    expect(await anew()).toEqual({ doubt: 'it reads on' });
  });

  it('is void where the Lease was renewed while the device was read (P2)', async () => {
    device = () => {
      stands(2);
      return { atMs: 7 };
    };
    expect(await anew()).toMatchObject({ doubt: expect.stringContaining(RENEWED) as string });
  });

  it('needs no device where it does not stand', async () => {
    stands(2);
    expect(await anew()).toMatchObject({ doubt: expect.stringContaining(RENEWED) as string });
    expect(reads).toBe(0);
  });
});
