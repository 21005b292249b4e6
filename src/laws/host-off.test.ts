import { leaseHold } from '../controllers/shared/claims/node-lease.ts';
import { describe, expect, it } from 'vitest';
import { violationsOf, judge } from './judge.ts';
import { HOST_NODE_LABEL } from './host-off.ts';
import { api, CONTROLLER, fenceWrite, node, OUR_TAINT, status } from './sample-trace.ts';
import type { ApiEvent, DeviceEvent, OperatorEvent, TraceEvent } from './trace.ts';

const HOSTS = 'baremetalhosts.metal3.io';
const HOLD = { 'reboot.metal3.io/ours': '{"mode":"hard"}' };

function host(at: number, user: string, annotations: Record<string, string>, poweredOn: boolean): ApiEvent {
  const object = { metadata: { name: 'host-a', labels: { [HOST_NODE_LABEL]: 'a' }, annotations }, status: { poweredOn } };
  return api(at, user, 'patch', HOSTS, 'host-a', { namespace: 'metal3', object });
}

const SET: DeviceEvent = { kind: 'device', at: 20, device: 'bmc', plug: '', node: 'a', action: 'set', want: 'off', answer: '204', session: 's' };
const CALL: OperatorEvent = { kind: 'operator', at: 21, tookMs: 2, node: 'a', device: 'bmc', want: 'off', answer: 'accepted' };
const TOLD = host(30, 'baremetal-operator', HOLD, false);
const READS = [
  api(40, CONTROLLER, 'get', HOSTS, 'host-a', { namespace: 'metal3' }),
  api(41, CONTROLLER, 'get', 'nodes', 'a'),
  api(42, CONTROLLER, 'get', 'leases.coordination.k8s.io', 'a', { namespace: 'kube-node-lease' }),
];
const DELETED = api(50, CONTROLLER, 'delete', 'nodes', 'a', { object: { metadata: { name: 'a' }, spec: {}, status: {} } });
const STORY: TraceEvent[] = [
  host(10, CONTROLLER, HOLD, true),
  SET,
  CALL,
  { kind: 'power', at: 22, node: 'a', state: 'off', cause: 'set' },
  TOLD,
  ...READS,
  DELETED,
];

function violations(trace: readonly TraceEvent[]): string {
  return violationsOf(judge(trace, { controllerUser: CONTROLLER })).join('\n');
}

const without = (left: TraceEvent): TraceEvent[] => STORY.filter((event) => event !== left);
const [ASKED] = STORY;

describe('a host that is let on again', () => {
  const taint = (at: number, user: string): ApiEvent => api(at, user, 'patch', 'nodes', 'a', { object: node({ taints: [OUR_TAINT] }) });
  const letOn = host(60, CONTROLLER, {}, false);
  const upToReads = STORY.filter((event) => event !== DELETED);
  const told = 'the host of a was let on while the Node had our out-of-service taint';

  it('may be when its Node has gone with our taint, or our taint was taken back', () => {
    expect(violations([...upToReads, taint(45, CONTROLLER), DELETED, letOn])).not.toContain(told);
    const back = api(55, CONTROLLER, 'patch', 'nodes', 'a', { object: node() });
    expect(violations([...upToReads, taint(45, CONTROLLER), back, letOn])).not.toContain(told);
  });

  it('may not be while our taint stands; somebody else’s is his', () => {
    expect(violations([...upToReads, taint(45, CONTROLLER), letOn])).toContain(told);
    expect(violations([...upToReads, taint(45, 'somebody'), letOn])).not.toContain(told);
  });
});

describe('a Node that is deleted when the operator of its host has switched it off', () => {
  it('is deleted rightly when we asked, it is off, it was said to be, and all was read once more', () => {
    expect(violations(STORY)).toBe('');
  });

  it.each<[string, TraceEvent[], string]>([
    ['we never asked', STORY.map((event) => (event === ASKED ? host(10, 'somebody', HOLD, true) : event)), 'none of our annotations'],
    ['our annotation was gone', [...STORY, host(43, CONTROLLER, {}, false)], 'no longer held'],
    ['nobody said that it is off', without(TOLD), 'had not been said to be off'],
    ['it was said to be on again', [...STORY, host(43, 'baremetal-operator', HOLD, true)], 'not said to be off any more'],
    ['it was not off', STORY.filter(({ kind }) => kind !== 'power'), 'was not powered off'],
    ['it came on again', [...STORY, { kind: 'power', at: 45, node: 'a', state: 'on', cause: 'restore' }], 'was not powered off'],
    ['its host was not read', without(READS[0] ?? DELETED), 'was not read after that'],
    ['its Node was not read', without(READS[1] ?? DELETED), 'Node a was not read'],
    [
      'its kubelet has written since',
      [...STORY, api(45, 'system:node:a', 'update', 'leases.coordination.k8s.io', 'a', { namespace: 'kube-node-lease', object: {} })],
      'had written',
    ],
    ['the operator did nothing', STORY.filter((event) => event !== CALL && event !== SET), 'no NodeFence of a stood'],
    ['it was no operator who switched it', without(CALL), 'no open intent'],
  ])('is not where %s', (_words, trace, told) => {
    expect(violations(trace)).toContain(told);
  });

  it('is deleted rightly where somebody else had it switched off before our annotation, and its operator said so after it', () => {
    const later = [...without(ASKED ?? DELETED), host(5, 'somebody', {}, true), host(25, CONTROLLER, HOLD, true)];
    expect(violations(later)).toBe('');
    expect(violations([...later.filter((event) => event !== TOLD), host(24, 'baremetal-operator', {}, false)])).toContain(
      'had not been said to be off',
    );
  });

  it('is deleted rightly where a person has deleted its host since it was read, a moment ago only', () => {
    const gone = (at: number, user: string): ApiEvent =>
      api(at, user, 'delete', HOSTS, 'host-a', { namespace: 'metal3', object: { metadata: { name: 'host-a' } } });
    expect(violations([...STORY, gone(45, 'admin')])).toBe('');
    expect(violations([...STORY, gone(45, CONTROLLER)])).toContain('no longer held');
    const late = STORY.map((event) => (event === DELETED ? { ...DELETED, at: 5_000 } : event));
    expect(violations([...late, gone(45, 'admin')])).toContain('no longer held');
  });

  it('is deleted rightly while its fence waits for the lease of who deletes it, and wrongly while anything else holds the fence', () => {
    const held = (policy: string, message: string): string => {
      const hold = { reason: 'held', policy, message, since: '' };
      const waits = [fenceWrite(11, status([], { state: 'new', hold })), ...STORY.map((event) => ({ ...event, at: event.at + 20_000 }))];
      return violations(waits)
        .split('\n')
        .filter((violation) => violation.startsWith('P6'))
        .join();
    };
    const lease = (holder: string): string => leaseHold('medik8s-leases', 'a', holder, 300_000);
    expect(held('medik8s-lease', lease('nodefence-machine-remediation'))).toBe('');
    expect(held('medik8s-lease', lease('node-maintenance'))).toContain('held by medik8s-lease');
    expect(held('max-unhealthy', '3 of 5 nodes have failed')).toContain('held by max-unhealthy');
  });
});
