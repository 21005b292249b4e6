import type { Evidence, JournalEntry, NodeFenceStatus } from '../domain/node-fence.ts';
import type { Plan, PlanMethod, Timing } from '../domain/plan.ts';
import type { Node } from '../ports/objects.ts';
import type { ApiEvent, DeviceEvent, TraceEvent } from './trace.ts';

/** A fence of node `a` that keeps every law: panic, off, proof, release, on, recovered. Tests doctor it. */
export const CONTROLLER = 'nodefence';
export const DEVICE = '10.0.0.1:443';
const MANAGER = 'system:kube-controller-manager';

export const OFF_AT = 10_200;
export const RELEASE_AT = 14_500;
export const ON_AT = 23_100;
export const FINAL_AT = 32_000;

export function api(at: number, user: string, verb: ApiEvent['verb'], resource: string, name: string, rest: Partial<ApiEvent> = {}): ApiEvent {
  return { kind: 'api', at, user, verb, resource, name, status: 200, ...rest };
}

export function device(at: number, action: DeviceEvent['action'], rest: Partial<DeviceEvent> = {}): DeviceEvent {
  return { kind: 'device', at, device: DEVICE, plug: '', node: 'a', action, answer: '200', session: 's1', ...rest };
}

export function node(changes: Pick<Node['spec'], 'taints' | 'unschedulable'> & { annotations?: Record<string, string> } = {}): Node {
  const { annotations, ...spec } = changes;
  return { metadata: { name: 'a', uid: 'node-a', labels: { rack: '1' }, ...(annotations === undefined ? {} : { annotations }) }, spec, status: {} };
}

export const OUR_TAINT = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' } as const;
export const FOREIGN_TAINT = { key: 'team', value: 'x', effect: 'NoSchedule' } as const;
const MARK = { 'nodefence.ha.k8s.io/cordoned-by': 'node-fence-a' };
const METHOD: PlanMethod = {
  name: 'bmc',
  agent: 'redfish',
  kind: 'power',
  action: 'reboot',
  device: DEVICE,
  plug: '',
  parameters: {},
  deviceMaxLatencyMs: 30_000,
};

/** As docs/configuration.md has them where nobody says otherwise. */
const TIMING: Timing = {
  isolationDelayMs: 5_000,
  powerManagementDelayMs: 300_000,
  notReadyPeriodMs: 600_000,
  readyTimeoutMs: 600_000,
  healthyDelayMs: 30_000,
  probationMs: 600_000,
  historyTtlMs: 86_400_000,
  powerTimeoutMs: 60_000,
  setDeadlineMs: 8_000,
  offStableMs: 3_000,
  settleMs: 12_000,
  intentMaxAgeMs: 600_000,
  releaseTimeoutMs: 60_000,
  lifeWaitMs: 15_000,
  alarmAfterMs: 900_000,
  restartBackoffMs: 30_000,
};

export function plan(changes: Partial<Plan> = {}): Plan {
  return {
    source: 'node',
    isolation: [],
    powerManagement: [{ level: 1, methods: [METHOD] }],
    recovery: [],
    timing: TIMING,
    stepRetries: 5,
    maxRestarts: 3,
    trigger: 'not-ready',
    release: 'auto',
    minimumEvidence: ['power-off'],
    identity: 'verified',
    problems: [],
    ...changes,
  };
}

export function entry(action: JournalEntry['action'], changes: Partial<JournalEntry> = {}): JournalEntry {
  const id = `${action}-1`;
  const isDevice = action === 'on' || action === 'off';
  return {
    id,
    step: 'power-management',
    level: 1,
    operation: isDevice ? `${action}:bmc` : action,
    method: isDevice ? 'bmc' : '',
    agent: isDevice ? 'redfish' : '',
    device: isDevice ? DEVICE : '',
    plug: '',
    action,
    attempt: 1,
    restart: 0,
    runner: 'in-process',
    epoch: 1,
    startedAt: '2026-01-01T00:00:00.000Z',
    deadlineMs: 8_000,
    ...changes,
  };
}

export function status(journal: JournalEntry[], changes: Partial<NodeFenceStatus> = {}): NodeFenceStatus {
  const frozen = { nodeUID: 'node-a', plan: plan() };
  const base = {
    level: 1,
    incident: 1,
    epoch: 1,
    frozen,
    retries: 0,
    restarts: 0,
    jobs: [],
    evidence: [],
    timeline: {},
    conditions: [],
    history: [],
  };
  return { state: 'running', step: 'power-management', ...base, journal, ...changes };
}

export function fenceWrite(at: number, value: NodeFenceStatus, rest: Partial<ApiEvent> = {}): ApiEvent {
  const object = { metadata: { name: 'node-fence-a', uid: 'fence-a' }, spec: { node: 'a' }, status: value };
  return api(at, CONTROLLER, 'update', 'nodefences.ha.k8s.io', 'node-fence-a', { subresource: 'status', object, ...rest });
}

function lease(at: number): ApiEvent {
  const object = { metadata: { name: 'nodefence-controller' }, spec: { holderIdentity: 'one', leaseTransitions: 1 } };
  return api(at, CONTROLLER, 'update', 'leases.coordination.k8s.io', 'nodefence-controller', { namespace: 'nodefence-system', object });
}

export function heartbeat(at: number): ApiEvent {
  const object = { metadata: { name: 'a', namespace: 'kube-node-lease' }, spec: { holderIdentity: 'a' } };
  return api(at, 'system:node:a', 'update', 'leases.coordination.k8s.io', 'a', { namespace: 'kube-node-lease', object });
}

const POD = { metadata: { name: 'db-0', namespace: 'default', uid: 'pod-1' }, spec: { nodeName: 'a', terminationGracePeriodSeconds: 1 } };
const ATTACHMENT = { metadata: { name: 'csi-a' }, spec: { attacher: 'x', nodeName: 'a', source: { persistentVolumeName: 'disk-0' } } };
const VOLUME_ATTACHMENTS = 'volumeattachments.storage.k8s.io';

export function podDelete(at: number, user: string, gracePeriodSeconds: number): ApiEvent {
  return api(at, user, 'delete', 'pods', 'db-0', { namespace: 'default', request: { gracePeriodSeconds }, object: POD });
}

/** The pod comes to node `a`, then is evicted; `deleteOptions` as they are sent. */
export function podEviction(at: number, user: string, deleteOptions: object): ApiEvent[] {
  const place = { namespace: 'default' };
  const answer = { kind: 'Status', status: 'Success' };
  return [
    api(1, 'system:kube-scheduler', 'create', 'pods', 'db-0', { ...place, object: POD }),
    api(at, user, 'create', 'pods', 'db-0', {
      ...place,
      subresource: 'eviction',
      status: 201,
      request: { kind: 'Eviction', deleteOptions },
      object: answer,
    }),
  ];
}

export function nodePatch(at: number, object: Node, user = CONTROLLER): ApiEvent {
  return api(at, user, 'patch', 'nodes', 'a', { object });
}

export function goodTrace(): TraceEvent[] {
  const done = { finishedAt: '2026-01-01T00:00:01.000Z', result: 'succeeded' } as const;
  const off = entry('off', done);
  const over = [off, entry('release', done), entry('release-end', done)];
  const proof: Evidence = { kind: 'power-off', grade: 'read-back', source: off.id, detail: 'Off', observedAt: '2026-01-01T00:00:01.000Z' };
  const proven = { evidence: [proof] };
  const create = { object: { metadata: { name: 'node-fence-a', uid: 'fence-a' }, spec: { node: 'a' } } };
  const cordoned = { unschedulable: true, annotations: MARK };
  return [
    { kind: 'power', at: 0, node: 'a', state: 'on', cause: 'start' },
    api(100, 'system:node:a', 'create', 'nodes', 'a', { object: node({ taints: [FOREIGN_TAINT] }) }),
    api(200, MANAGER, 'create', 'pods', 'db-0', { namespace: 'default', object: POD }),
    api(300, MANAGER, 'create', VOLUME_ATTACHMENTS, 'csi-a', { object: ATTACHMENT }),
    heartbeat(500),
    ...Array.from({ length: 16 }, (_unused, index) => lease(1_000 + index * 2_000)),
    api(10_000, CONTROLLER, 'create', 'nodefences.ha.k8s.io', 'node-fence-a', create),
    nodePatch(10_050, node({ ...cordoned, taints: [FOREIGN_TAINT] })),
    fenceWrite(10_100, status([entry('off')])),
    device(10_150, 'identity'),
    device(10_150, 'read', { shown: 'on', answer: '200 On' }),
    device(OFF_AT, 'set', { want: 'off', answer: '204' }),
    { kind: 'power', at: 10_250, node: 'a', state: 'off', cause: 'set' },
    ...[11_200, 12_200, 13_200, 14_200].map((at) => device(at, 'read', { shown: 'off', answer: '200 Off' })),
    fenceWrite(14_300, status([off], proven)),
    fenceWrite(14_400, status([off, entry('release')], proven)),
    api(14_440, CONTROLLER, 'get', 'nodes', 'a'),
    api(14_450, CONTROLLER, 'get', 'leases.coordination.k8s.io', 'a', { namespace: 'kube-node-lease' }),
    nodePatch(RELEASE_AT, node({ ...cordoned, taints: [FOREIGN_TAINT, OUR_TAINT] })),
    podDelete(14_550, MANAGER, 1),
    podDelete(14_800, MANAGER, 0),
    api(14_900, MANAGER, 'delete', VOLUME_ATTACHMENTS, 'csi-a', { object: ATTACHMENT }),
    nodePatch(15_000, node({ ...cordoned, taints: [FOREIGN_TAINT] })),
    fenceWrite(15_100, status(over, proven)),
    fenceWrite(23_000, status([...over, entry('on')])),
    device(ON_AT, 'set', { want: 'on', answer: '204' }),
    { kind: 'power', at: 23_150, node: 'a', state: 'on', cause: 'set' },
    fenceWrite(25_000, status([...over, entry('on', done)])),
    heartbeat(30_000),
    nodePatch(31_000, node({ taints: [FOREIGN_TAINT] })),
    fenceWrite(FINAL_AT, status([...over, entry('on', done)], { state: 'final', step: 'recovery', outcome: 'recovered' })),
  ];
}

/** The good trace without the events that `isGone` picks. */
export function without(isGone: (event: TraceEvent) => boolean): TraceEvent[] {
  return goodTrace().filter((event) => !isGone(event));
}

/** The good trace with other events where `edit` returns some. */
export function edited(edit: (event: TraceEvent) => TraceEvent): TraceEvent[] {
  return goodTrace().map(edit);
}
