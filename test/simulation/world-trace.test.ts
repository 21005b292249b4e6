import { describe, expect, it } from 'vitest';
import type { ApiEvent, TraceEvent } from '../../src/laws/trace.ts';
import { Kernel } from '../../src/testbed/simulation/kernel.ts';
import { WorldTrace } from './world-trace.ts';

function harness(power: 'on' | 'off', nodes = 3) {
  const kernel = new Kernel({ seed: 1 });
  const trace = new WorldTrace(kernel, {
    nodes,
    power: () => power,
    isController: (user) => user === 'nodefence',
    caller: () => 'one',
    isSound: (node) => node === 'sound',
  });
  return { kernel, trace, failures: kernel.failures };
}

const write = (podUID: string, counter: number, node = 'a'): TraceEvent => ({ kind: 'disk', at: 0, volume: 'v', node, podUID, counter });

const api = (changes: Partial<ApiEvent>): ApiEvent => ({
  kind: 'api',
  at: 0,
  user: 'nodefence',
  verb: 'delete',
  resource: 'pods',
  name: 'db-0',
  status: 200,
  ...changes,
});

const forced = api({ request: { gracePeriodSeconds: 0 }, object: { spec: { nodeName: 'a' } } });
const taint = api({
  verb: 'patch',
  resource: 'nodes',
  name: 'a',
  request: { spec: { taints: [{ key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' }] } },
});
const detach = api({ resource: 'volumeattachments.storage.k8s.io', name: 'va', object: { spec: { nodeName: 'a' } } });

describe('the trace of a world', () => {
  it('accepts one writer after the other and catches the first that comes back', () => {
    const { trace, failures } = harness('on');
    for (const event of [write('p1', 1), write('p1', 2), write('p2', 3, 'b'), write('p2', 4, 'b')]) {
      trace.record(event);
    }
    expect(failures).toEqual([]);
    trace.record(write('p1', 3));
    expect(failures.join()).toContain('two writers at once: p1 on a');
  });

  it.each([
    ['a pod deleted with grace 0', forced],
    ['the out-of-service taint', taint],
    ['a volume attachment deleted', detach],
    ['the node deleted', api({ resource: 'nodes', name: 'a' })],
  ])('catches %s while the machine is on, not while it is off', (_what, event) => {
    const on = harness('on');
    on.trace.record(event);
    expect(on.failures.join()).toContain('P1');
    const off = harness('off');
    off.trace.record(event);
    expect(off.failures).toEqual([]);
  });

  it.each([
    ['another user', { ...forced, user: 'system:kube-controller-manager' }],
    ['a refused write', { ...forced, status: 409 }],
    ['a graceful deletion', { ...forced, request: { gracePeriodSeconds: 30 } }],
    ['a cordon', api({ verb: 'patch', resource: 'nodes', name: 'a', request: { spec: { unschedulable: true } } })],
    ['the taint taken away', api({ verb: 'patch', resource: 'nodes', name: 'a', request: { spec: { taints: null } } })],
  ])('does not mistake %s for a release', (_what, event) => {
    const { trace, failures } = harness('on');
    trace.record(event);
    expect(failures).toEqual([]);
  });

  it('catches a controller that floods the API server, not another user', () => {
    for (const [user, nodes, caught] of [
      ['nodefence', 3, 1],
      ['nodefence', 26, 1],
      ['nodefence', 31, 0],
      ['system:node:a', 3, 0],
    ] as const) {
      const { trace, failures } = harness('on', nodes);
      for (let call = 0; call < 900; call++) {
        trace.record(api({ user, verb: 'update', resource: 'nodefences.ha.k8s.io', name: 'node-fence-a' }));
      }
      expect(failures).toHaveLength(caught);
    }
  });

  it('stamps every event with the time of the world and makes each count in the hash', async () => {
    const hashOf = async (counter: number): Promise<string> => {
      const { kernel, trace } = harness('on');
      kernel.schedule(250, () => {
        trace.record(write('p1', counter));
      });
      await kernel.run({ untilMs: 1000 });
      expect(new Date(trace.events[0]?.at ?? 0).toISOString()).toBe('2026-01-01T00:00:00.250Z');
      return kernel.hash();
    };
    expect(await hashOf(1)).toBe(await hashOf(1));
    expect(await hashOf(1)).not.toBe(await hashOf(2));
  });
});
