import { afterEach, describe, expect, it } from 'vitest';
import type { Action } from '../../src/controllers/machine-health-check/actions.ts';
import { chainsOf } from '../../src/controllers/machine-health-check/chain.ts';
import type { NodeFacts } from '../../src/controllers/machine-health-check/snapshot.ts';
import { Writer } from '../../src/controllers/machine-health-check/write.ts';
import { install } from '../../src/drill/run/installation.ts';
import { OPENSHIFT_MACHINES } from '../../src/ports/cluster-api.ts';
import { NODE_FENCE_STOPS, NODES } from '../../src/ports/resources.ts';
import { nodeConditionsOf } from './objects.ts';
import { FixedWorkload, MACHINES, ShellWorld, workloadOf } from './shell-world.ts';

const TARGET = { apiVersion: 'machine.openshift.io/v1beta1', kind: 'Machine', namespace: 'default', name: 'm', uid: 'uid-1' };
const MACHINE = { ...TARGET, resourceVersion: '5', nodeName: 'n' };
const DELETE: Action = { kind: 'delete-machine', target: TARGET, resourceVersion: '5' };
const ILL: NodeFacts = { name: 'n', conditions: [{ type: 'Ready', status: 'Unknown', reason: '', sinceMs: 1 }] };
const WELL: NodeFacts = { name: 'n', conditions: [{ type: 'Ready', status: 'True', reason: '', sinceMs: 2 }] };

interface Now {
  /** As the watches and the API server have them by now. */
  machine?: object;
  node?: NodeFacts;
}

/** What a writer does where things are so by now. */
function writer({ machine = MACHINE, node = ILL }: Now = {}): { writer: Writer; removed: unknown[] } {
  const removed: unknown[] = [];
  const cluster = {
    list: () => Promise.resolve([]),
    get: () => Promise.resolve({ metadata: machine }),
    remove: (_kind: unknown, _name: string, how: unknown) => Promise.resolve(removed.push(how) > 0),
    create: () => Promise.resolve(removed.push('created')),
  };
  const cache = {
    machine: () => machine,
    nodeOf: () => ({ read: () => Promise.resolve(node), cluster, isOwn: true }),
    preservedBecause: () => undefined,
    kindOf: () => ({ resource: OPENSHIFT_MACHINES }),
  };
  const recorder = { event: () => undefined };
  const parts = { cluster, recorder, cache, machines: OPENSHIFT_MACHINES, checks: OPENSHIFT_MACHINES, refused: () => undefined };
  return { writer: new Writer(parts as never), removed };
}

describe('what was decided some time before it is done', () => {
  it('is not done where the Node has become well since, and we have seen it already', async () => {
    const [chain] = chainsOf([DELETE], new Map([[TARGET.uid, ILL]]));
    await expect(writer().writer.confirm(chain!)).resolves.toBeUndefined();
    await expect(writer({ node: WELL }).writer.confirm(chain!)).rejects.toThrow('Node n has changed since it was decided');
  });

  it('deletes the Machine in that version alone, and none that was made anew under its name', async () => {
    const [chain] = chainsOf([DELETE], new Map([[TARGET.uid, ILL]]));
    const anew = writer({ machine: { ...MACHINE, uid: 'uid-2', resourceVersion: '9' } });
    await expect(anew.writer.confirm(chain!)).rejects.toThrow('another one has its name');
    await anew.writer.perform(DELETE);
    const later = writer({ machine: { ...MACHINE, resourceVersion: '9' } });
    await later.writer.perform(DELETE);
    const asDecided = { namespace: 'default', uid: 'uid-1', resourceVersion: '5' };
    expect([...anew.removed, ...later.removed], 'the API server refuses both').toEqual([asDecided, asDecided]);
  });

  it('makes no request for a Machine that has changed since', async () => {
    const object = { apiVersion: 'r.io/v1', kind: 'R', metadata: { name: 'm' } };
    const [chain] = chainsOf([{ kind: 'create-request', target: TARGET, object, resourceVersion: '5' }], new Map([[TARGET.uid, ILL]]));
    await expect(writer().writer.confirm(chain!)).resolves.toBeUndefined();
    await expect(writer({ machine: { ...MACHINE, resourceVersion: '9' } }).writer.confirm(chain!)).rejects.toThrow(
      'has changed since it was decided',
    );
  });
});

describe('a stop of a person in the cluster of the Node', { timeout: 60_000 }, () => {
  let world: ShellWorld | undefined;

  afterEach(async () => {
    await world?.end();
    world = undefined;
  });

  it('holds what would take its Machine down, as one here does', async () => {
    world = await ShellWorld.create();
    await world.check();
    await world.add('m1');
    const { site, nodes, transport } = await workloadOf(world.clock, ['node-of-m1']);
    await install({ transport, cluster: site });
    await site.create(NODE_FENCE_STOPS, { metadata: { name: 'stop' }, spec: { node: 'node-of-m1', reason: 'a look at the cables' } });
    await site.mergePatch(NODES, 'node-of-m1', { status: { conditions: nodeConditionsOf('Unknown', 400) } }, { subresource: 'status' });
    const workloads = new FixedWorkload();
    const { controller } = world.start({ workloads });
    workloads.show(nodes);
    await world.pass(320_000, 5_000);
    expect(await world.conditions(MACHINES, 'm1')).toEqual([]);
    expect(controller.problems().join()).toContain('a look at the cables');
    await site.remove(NODE_FENCE_STOPS, 'stop');
    await world.pass(61_000);
    expect(await world.conditions(MACHINES, 'm1')).toContain('OwnerRemediated=False/WaitingForRemediation');
  });
});
