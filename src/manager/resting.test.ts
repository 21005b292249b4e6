import { describe, expect, it } from 'vitest';
import { GROUP, VERSION } from '../ports/resources.ts';
import type { NodeFence } from '../ports/resources.ts';
import { NO_METRICS } from '../ports/metrics.ts';
import { FakeLister } from '../config/testing/fake-lister.ts';
import { ScriptedTransport } from '../kube/testing/scripted-transport.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import type { ControllerOptions, ControllerPorts } from './composition.ts';
import { restWhileNothingIsFenced } from './resting.ts';
import { watchCluster } from './watches.ts';

function fence(node: string, state?: string): NodeFence {
  return { metadata: { name: `node-fence-${node}` }, spec: { node }, ...(state === undefined ? {} : { status: { state } }) } as NodeFence;
}

describe('watches that nobody waits for', () => {
  it('rest for a moment, and not while a fence is open', () => {
    const fences = new FakeLister<NodeFence>();
    const restMs = restWhileNothingIsFenced(fences);
    expect(restMs()).toBe(100);
    fences.put(fence('a'));
    expect(restMs()).toBe(0);
    fences.put(fence('a', 'running'));
    fences.put(fence('b', 'done'));
    fences.put(fence('a', 'final'));
    expect(restMs()).toBe(0);
    fences.put(fence('b', 'final'));
    expect(restMs()).toBe(100);
  });

  it('are those of kubelets’ Leases, of pods and of reports: a Node, a stop, a NodeFence and the leader’s Lease are read at once', async () => {
    const clock = new ManualClock();
    const transport = new ScriptedTransport();
    transport.streamsLists = true;
    const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
    const ports = { transport, clock, random: { next: () => 0.5, uuid: () => 'u' }, logger: silent, metrics: { watch: NO_METRICS.watch } };
    const { reflectors, announced } = watchCluster(ports as unknown as ControllerPorts, { namespace: 'ns' } as ControllerOptions);
    for (const reflector of [...reflectors, announced]) reflector.start();
    await clock.settle();
    const resting = transport.watches.filter(({ request }) => request.restMs !== undefined).map(({ request }) => request.path);
    expect(transport.watches).toHaveLength(reflectors.length + 1);
    const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases';
    expect(resting.sort()).toEqual(['/api/v1/pods', leases, `/apis/${GROUP}/${VERSION}/nodefencereports`]);
    for (const reflector of [...reflectors, announced]) reflector.close();
  });
});
