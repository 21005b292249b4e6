import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from '../../../src/domain/node-fence.ts';
import type { ApiEvent, DeviceEvent } from '../../../src/laws/trace.ts';
import { FreshLook } from './fresh-look.ts';
import { PaceTruth, podLetGoBy } from './pace.ts';
import { RunTruth } from './run-truth.ts';

type Entry = Pick<NodeFenceStatus['journal'][number], 'id' | 'step' | 'action' | 'device' | 'operation'> & {
  finishedAt?: string;
  epoch?: number;
};

const OFF: Entry = { id: 'off-1', step: 'power-management', action: 'off', device: 'bmc-a', operation: 'off:bmc-off' };
/** Of the request that is judged; what was heard before it came in the first milliseconds. */
const NOW_MS = 1_000;
const RUN: Entry = { id: 'run-1', step: 'isolation', action: 'run', device: 'ssh-a', operation: 'run:program' };

function statusOf(journal: readonly Entry[], changes: Partial<NodeFenceStatus> = {}): NodeFenceStatus {
  return { incident: 1, restarts: 0, frozen: { nodeUID: 'uid-a' }, journal, ...changes } as unknown as NodeFenceStatus;
}

function event(changes: Partial<ApiEvent>): ApiEvent {
  return { kind: 'api', at: 0, user: 'nodefence', verb: 'get', resource: 'nodes', name: 'a', status: 200, ...changes };
}

function nodeWritten(ready: string, uid = 'uid-a'): ApiEvent {
  const object = { metadata: { name: 'a', uid }, spec: {}, status: { conditions: [{ type: 'Ready', status: ready }] } };
  return event({ user: 'system:node:a', verb: 'patch', object });
}

function fenceWritten(status: NodeFenceStatus): ApiEvent {
  return event({ verb: 'update', resource: 'nodefences.ha.k8s.io', name: 'node-fence-a', object: { spec: { node: 'a' }, status } });
}

function asked(changes: Partial<DeviceEvent>): DeviceEvent {
  return { kind: 'device', at: 0, device: 'bmc-a', plug: '', node: 'a', action: 'set', want: 'off', answer: '204', session: 'one', ...changes };
}

/** What the judge says of the first set of an attempt after these events, by process `one`. */
function look(heard: readonly [ApiEvent, string?][], status: NodeFenceStatus, request = asked({})): string | undefined {
  const judge = new FreshLook({ of: () => status });
  heard.forEach(([one, process], index) => {
    judge.heard(one, process, index);
  });
  return judge.asked(request, NOW_MS);
}

describe('the judge of fresh looks', () => {
  const status = statusOf([OFF]);
  const written: [ApiEvent] = [fenceWritten(status)];

  it('lets an off pass that was preceded by a read of a Node that is not Ready, since it was intended', () => {
    expect(look([[nodeWritten('False')], written, [event({}), 'one']], status)).toBeUndefined();
  });

  it.each([
    ['whose Node was not read', [[nodeWritten('False')], written]],
    ['whose Node was read by another process', [[nodeWritten('False')], written, [event({}), 'two']]],
    ['whose Node was read before it was intended', [[nodeWritten('False')], [event({}), 'one'], written]],
    ['whose Node was Ready when it was read', [[nodeWritten('True')], written, [event({}), 'one']]],
    ['whose Node was another when it was read', [[nodeWritten('False', 'uid-b')], written, [event({}), 'one']]],
  ] as [string, [ApiEvent, string?][]][])('catches an off %s', (_what, heard) => {
    expect(look(heard, status)).toContain('P10: one set off bmc-a');
  });

  it('lets what was asked for pass, and what has to boot anew since its storage was taken from it', () => {
    const heard: [ApiEvent, string?][] = [[nodeWritten('True')], written];
    expect(look(heard, statusOf([OFF], { trigger: { kind: 'person', since: '' } }))).toBeUndefined();
    expect(look(heard, statusOf([OFF], { storageRelease: { pods: 1 } as never }))).toBeUndefined();
  });

  describe('of a Ready Node whose daemon is silent', () => {
    const silent = statusOf([OFF], { trigger: { kind: 'heartbeat', since: '' } });
    const lease = event({ resource: 'leases.coordination.k8s.io', namespace: 'kube-node-lease' });
    const renewed = { ...lease, user: 'system:node:a', verb: 'update' as const };
    const looks: [ApiEvent, string?][] = [
      [event({}), 'one'],
      [lease, 'one'],
    ];
    const judged = (heard: readonly [ApiEvent, string?][], shown: 'on' | 'off', nowMs: number): string | undefined => {
      const judge = new FreshLook({ of: () => silent });
      heard.forEach(([one, process], index) => judge.heard(one, process, index));
      judge.asked(asked({ action: 'read', shown }), nowMs);
      return judge.asked(asked({}), nowMs);
    };
    const before: [ApiEvent, string?][] = [[nodeWritten('True')], [renewed], [fenceWritten(silent)]];

    it('lets an off pass where its device read off, and where its kubelet is silent for life_wait', () => {
      expect(judged([...before, ...looks], 'off', NOW_MS)).toBeUndefined();
      expect(judged([...before, ...looks], 'on', 15_100)).toBeUndefined();
    });

    it('catches one where neither is so, or the Lease was not read since it was intended', () => {
      expect(judged([...before, ...looks], 'on', 14_000)).toContain('its device had not read off, and its kubelet was heard 13999 ms before');
      expect(judged([...before, ...looks.slice(0, 1)], 'off', NOW_MS)).toContain('and not its Lease since that was intended');
      expect(judged([...before.slice(0, 2), ...looks.slice(1), ...before.slice(2), ...looks.slice(0, 1)], 'off', NOW_MS)).toContain('not its Lease');
    });
  });

  it('lets one be carried through whose intent stood open when its leader ended, and no other', () => {
    const orphan = { ...OFF, epoch: 1, finishedAt: '2026-01-01T00:00:00Z' };
    const again = statusOf([{ ...OFF, id: 'off-2' }], { epoch: 2 });
    const after = (first: readonly Entry[], epoch: number): string | undefined => {
      const judge = new FreshLook({ of: () => again });
      judge.heard(fenceWritten(statusOf([OFF], { epoch: 1 })), undefined, 0);
      judge.heard(fenceWritten(statusOf(first, { epoch })), undefined, 1);
      judge.heard(fenceWritten(statusOf([...first, { ...OFF, id: 'off-2', epoch: 2 }], { epoch: 2 })), undefined, 2);
      return judge.asked(asked({}), NOW_MS);
    };
    expect(after([orphan], 2)).toBeUndefined();
    expect(after([orphan], 1)).toContain('P10');
  });

  it('catches a program that begins unlooked, and lets it begin again once it has begun', () => {
    const running = statusOf([RUN]);
    const judge = new FreshLook({ of: () => running });
    const begins = asked({ action: 'run', device: 'ssh-a', answer: 'begun' });
    judge.heard(fenceWritten(running), undefined, 0);
    expect(judge.asked(begins, NOW_MS)).toContain('began the program on ssh-a');
    expect(judge.asked(begins, NOW_MS)).toBeUndefined();
  });
});

describe('the judge of programs', () => {
  const begun = asked({ action: 'run', device: 'ssh-a', answer: 'begun' });

  it('lets one begin for an intent that stands, once', () => {
    const judge = new RunTruth(
      () => statusOf([RUN]),
      () => 0,
    );
    expect(judge.begun(begun, 'run-1')).toBeUndefined();
    expect(judge.begun({ ...begun, session: 'two' }, 'run-1')).toContain('for which one had begun it');
  });

  it('catches one without an intent, and one whose intent is over', () => {
    const over = new RunTruth(
      () => statusOf([{ ...RUN, finishedAt: '2026-01-01T00:00:00Z' }]),
      () => Date.parse('2026-01-01T00:00:01Z'),
    );
    expect(over.begun(begun, 'run-1')).toContain('which is over');
    expect(over.begun(begun, 'run-2')).toContain('without an intent');
  });
});

describe('the judge of the pace', () => {
  it('catches more pods within a minute than are allowed, each counted once, and none behind the taint', () => {
    const judge = new PaceTruth(2);
    expect([judge.letGo('a', 'p1', 0), judge.letGo('a', 'p1', 1), judge.letGo('a', 'p2', 30_000), judge.letGo('b', 'p3', 30_000)]).toEqual(
      Array(4).fill(undefined),
    );
    expect(judge.letGo('a', 'p4', 50_000)).toContain('3 pods of a were let go within a minute');
    judge.nodeHeard('a', { spec: { taints: [{ key: 'node.kubernetes.io/out-of-service' }] } });
    expect(judge.letGo('a', 'p5', 50_001)).toBeUndefined();
  });

  it('knows what lets a pod go', () => {
    const pod = { resource: 'pods', namespace: 'x', name: 'p' };
    const evicted = (gracePeriodSeconds: number): ApiEvent =>
      event({ ...pod, verb: 'create', subresource: 'eviction', request: { deleteOptions: { gracePeriodSeconds } } });
    expect([podLetGoBy(evicted(0)), podLetGoBy(evicted(5))]).toEqual(['x/p', undefined]);
    expect(podLetGoBy(event({ ...pod, verb: 'delete', request: { gracePeriodSeconds: 0 } }))).toBe('x/p');
    expect(podLetGoBy(event({ ...pod, verb: 'get' }))).toBeUndefined();
  });
});
