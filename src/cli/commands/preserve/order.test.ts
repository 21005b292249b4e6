import { describe, expect, it } from 'vitest';
import type { PreservationMode } from '../../../config/preservation-mode.ts';
import type { Machine } from '../../../ports/machines.ts';
import type { Node } from '../../../ports/objects.ts';
import { writesFor } from './order.ts';
import type { Order, PreserveWrite } from './order.ts';

const NOW = Date.UTC(2026, 2, 29, 2, 15, 0, 500);
const PRESERVE = 'node.machine.sapcloud.io/preserve';
const BY = 'nodefence.ha.k8s.io/preserve-requested-by';
const LAST = 'node.machine.sapcloud.io/last-applied-node-preserve-value';
const OWN: PreservationMode = { mode: 'own', readsMachines: true, hasExpiryField: true, spelling: 'auto-preserve', reasons: ['own'] };
const DAY_MS = 86_400_000;

type Marks = Record<string, string>;

function node(annotations: Marks = {}): Node {
  return { metadata: { name: 'n1', annotations }, spec: {}, status: {} };
}

function machine(annotations: Marks = {}): Machine {
  return { metadata: { name: 'm1', namespace: 'shoot', annotations, labels: { node: 'n1' } } };
}

function endedAt(preserveExpiryTime: string): Machine {
  return { ...machine(), status: { currentStatus: { preserveExpiryTime } } };
}

function order(wish: Order['wish'], target: Partial<Order['target']>, more: Partial<Order> = {}): Order {
  const whole: Order['target'] = { asked: target.node === undefined ? 'Machine' : 'Node', node: undefined, machine: undefined, ...target };
  return { target: whole, wish, forMs: undefined, reason: undefined, by: 'olga', mode: OWN, phase: 'Running', nowMs: NOW, ...more };
}

function patches(writes: readonly PreserveWrite[]): object[] {
  return writes.map(({ on, subresource, patch }) => ({ [`${on}${subresource === undefined ? '' : `/${subresource}`}`]: patch }));
}

function annotated(on: 'Node' | 'Machine', annotations: Record<string, string | null>): object {
  return { [on]: { metadata: { annotations } } };
}

describe('nodefence preserve writes', () => {
  it('the annotation on what was named, who wrote it, and the reason with it', () => {
    const byNode = writesFor(order('now', { node: node(), machine: machine() }, { reason: 'core dump' }));
    expect(patches(byNode)).toEqual([annotated('Node', { [PRESERVE]: 'now', [BY]: 'now by olga', 'ha.k8s.io/preserve-reason': 'core dump' })]);
    const byMachine = writesFor(order('when-failed', { asked: 'Machine', node: node(), machine: machine() }));
    expect(patches(byMachine)).toEqual([annotated('Machine', { [PRESERVE]: 'when-failed', [BY]: 'when-failed by olga' })]);
  });

  it.each([
    ['has a word of its own', { [PRESERVE]: 'when-failed' }, {}],
    ['had one', {}, { [LAST]: 'now' }],
  ])('it on the node where that %s, for the node wins', (_what, onNode, onMachine) => {
    const writes = writesFor(order('never', { asked: 'Machine', node: node(onNode), machine: machine(onMachine) }));
    expect(patches(writes)).toEqual([annotated('Node', { [PRESERVE]: 'false', [BY]: 'false by olga' })]);
  });

  it('first the annotation, then the end of a Machine, in whole seconds', () => {
    const writes = writesFor(order('now', { node: node(), machine: machine() }, { forMs: DAY_MS }));
    expect(patches(writes)).toEqual([
      annotated('Node', { [PRESERVE]: 'now', [BY]: 'now by olga' }),
      { 'Machine/status': { status: { currentStatus: { preserveExpiryTime: '2026-03-30T02:15:00Z' } } } },
    ]);
  });

  it('the end of a node without a Machine in the same write', () => {
    const writes = writesFor(order('now', { node: node() }, { forMs: DAY_MS }));
    expect(patches(writes)).toEqual([
      annotated('Node', { [PRESERVE]: 'now', [BY]: 'now by olga', 'ha.k8s.io/preserve-expiry': '2026-03-30T02:15:00Z' }),
    ]);
  });

  it('how long a Machine is kept once it fails, where that is asked beforehand', () => {
    const writes = writesFor(order('when-failed', { machine: machine() }, { forMs: DAY_MS }));
    expect(patches(writes)).toEqual([
      annotated('Machine', { [PRESERVE]: 'when-failed', [BY]: 'when-failed by olga' }),
      { Machine: { spec: { machinePreserveTimeout: '86400s' } } },
    ]);
  });

  it('the end itself where the machine has failed already', () => {
    const writes = writesFor(order('when-failed', { machine: machine() }, { forMs: DAY_MS, phase: 'Failed' }));
    expect(patches(writes)[1]).toEqual({ 'Machine/status': { status: { currentStatus: { preserveExpiryTime: '2026-03-30T02:15:00Z' } } } });
  });

  it('it over an end that is still to come, which stands', () => {
    const writes = writesFor(order('now', { machine: endedAt('2026-03-29T02:15:01Z') }));
    expect(patches(writes)).toEqual([annotated('Machine', { [PRESERVE]: 'now', [BY]: 'now by olga' })]);
  });

  it('nothing where it is so already', () => {
    expect(writesFor(order('now', { node: node({ [PRESERVE]: 'now' }) }))).toEqual([]);
  });

  it('a word with its own time over an end that has passed', () => {
    const ended = endedAt('2026-03-29T02:15:00Z');
    const writes = writesFor(order('now', { node: node(), machine: ended }, { forMs: DAY_MS }));
    expect(patches(writes)[1]).toEqual({ 'Machine/status': { status: { currentStatus: { preserveExpiryTime: '2026-03-30T02:15:00Z' } } } });
    expect(patches(writesFor(order('never', { node: node(), machine: ended })))).toEqual([
      annotated('Node', { [PRESERVE]: 'false', [BY]: 'false by olga' }),
    ]);
  });

  it('the mark of a request of ours away, so that it is the person’s from now on', () => {
    const standing = node({ [PRESERVE]: 'when-failed', 'ha.k8s.io/preserve-requested': 'uid' });
    expect(patches(writesFor(order('when-failed', { node: standing })))).toEqual([
      annotated('Node', { 'ha.k8s.io/preserve-requested': null, [BY]: 'when-failed by olga' }),
    ]);
  });
});

describe('nodefence preserve without a reason', () => {
  const REASON = 'ha.k8s.io/preserve-reason';
  it('takes the reason of another value away, and keeps that of the same', () => {
    const standing = node({ [PRESERVE]: 'now', [REASON]: 'core dump' });
    expect(patches(writesFor(order('never', { node: standing })))).toEqual([
      annotated('Node', { [PRESERVE]: 'false', [REASON]: null, [BY]: 'false by olga' }),
    ]);
    expect(writesFor(order('now', { node: standing }))).toEqual([]);
  });
});

describe('nodefence preserve stop', () => {
  it('removes a manual value wherever it stands, and the reason', () => {
    const target = {
      node: node({ [PRESERVE]: 'now', 'ha.k8s.io/preserve-reason': 'x', [BY]: 'now by olga' }),
      machine: machine({ [PRESERVE]: 'when-failed' }),
    };
    expect(patches(writesFor(order('stop', target)))).toEqual([
      annotated('Node', { [PRESERVE]: null, 'ha.k8s.io/preserve-reason': null, [BY]: null }),
      annotated('Machine', { [PRESERVE]: null }),
    ]);
  });

  it.each(['auto-preserve', 'auto-preserved'])('writes false over %s, on the Machine or on the node', (value) => {
    const onMachine = writesFor(order('stop', { asked: 'Machine', machine: machine({ [PRESERVE]: value }) }));
    expect(patches(onMachine)).toEqual([annotated('Machine', { [PRESERVE]: 'false', [BY]: 'false by olga' })]);
    const onNode = writesFor(order('stop', { node: node({ [PRESERVE]: value }) }));
    expect(patches(onNode)).toEqual([annotated('Node', { [PRESERVE]: 'false', [BY]: 'false by olga' })]);
  });

  it.each([
    ['nothing is asked for', {}],
    ['false stands', { [PRESERVE]: 'false' }],
  ])('writes nothing where %s', (_what, marks) => {
    expect(writesFor(order('stop', { node: node(marks) }))).toEqual([]);
  });
});

describe('nodefence preserve refuses, and says what to do', () => {
  const old: PreservationMode = { ...OWN, mode: 'observe', hasExpiryField: false };
  const observe: PreservationMode = { ...OWN, mode: 'observe' };
  const off: PreservationMode = { ...OWN, mode: 'off', reasons: ['no Machines here'] };
  it.each<[string, Order, RegExp]>([
    ['an MCM that does not know it', order('now', { machine: machine() }, { mode: old }), /older than v0\.62.*Update it/],
    ['preservation that is off', order('now', { node: node() }, { mode: off }), /no Machines here.*--preservation own/],
    ['an end of never', order('never', { node: node() }, { forMs: DAY_MS }), /never has no end/],
    ['an end of stop', order('stop', { node: node() }, { forMs: DAY_MS }), /stop has no end/],
    ['an end of a failure to come on a plain node', order('when-failed', { node: node() }, { forMs: DAY_MS }), /ConfigMap preservation-pools/],
    [
      'an end of a failure to come beside an MCM',
      order('when-failed', { machine: machine() }, { forMs: DAY_MS, mode: observe }),
      /MachineDeployment, to MCM/,
    ],
    ['an end where the Machine is elsewhere', order('now', { node: node() }, { forMs: DAY_MS, mode: observe }), /--machines-kubeconfig/],
    ['now after its time, of a Machine', order('now', { machine: endedAt('2026-03-29T02:15:00Z') }), /ended at 2026-03-29T02:15:00Z.*--for/],
    ['when-failed after its time', order('when-failed', { machine: endedAt('2026-03-29T02:15:00Z') }, { phase: 'Failed' }), /--for/],
    ['now after its time, of a node', order('now', { node: node({ 'ha.k8s.io/preserve-expiry': '2026-03-28T00:00:00Z' }) }), /--for/],
  ])('%s', (_what, given, words) => {
    expect(() => writesFor(given)).toThrow(words);
  });
});
