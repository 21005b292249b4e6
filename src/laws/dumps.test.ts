import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from '../domain/node-fence.ts';
import { judge } from './judge.ts';
import { entry, fenceWrite, goodTrace, heartbeat, plan, status } from './sample-trace.ts';
import type { TraceEvent } from './trace.ts';

const KDUMP = { startTimeoutMs: 5_000, finishedTimeoutMs: 20_000, maxDurationMs: 100_000 };
/** The off of the good trace leaves at 10,200, sent by the session s1. */
const P6 = (trace: readonly TraceEvent[]): string[] => judge(trace).laws.P6.violations;
const message = (at: number, session = 's1'): TraceEvent => ({ kind: 'dump', at, node: 'a', session });

/** The good trace with a plan that waits for dumps, of a kubelet that was heard last long before. */
function waiting(kdump = KDUMP): TraceEvent[] {
  const silent = goodTrace().map((event) => (event.at <= 500 ? { ...event, at: event.at - 6_000 } : event));
  return silent.map((event) => {
    const object = event.kind === 'api' ? (event.object as { status?: Partial<NodeFenceStatus> } | undefined) : undefined;
    if (event.kind !== 'api' || object?.status?.frozen === undefined) return event;
    return { ...event, object: { ...object, status: { ...object.status, frozen: { ...object.status.frozen, plan: plan({ kdump }) } } } };
  });
}

/** Of a fence that waits before it has switched anything. */
function held(at: number, reason: 'kdump-dumping' | 'kdump-awaited', kdump = KDUMP): TraceEvent {
  const frozen = { nodeUID: 'node-a', plan: plan({ kdump }) };
  return fenceWrite(at, status([], { frozen, hold: { policy: 'kdump', reason, message: '', since: '' } }));
}

/** The Lease of the controllers has this holder. */
function led(at: number, holderIdentity: string): TraceEvent {
  return {
    ...{ kind: 'api', at, user: 'nodefence', verb: 'update', resource: 'leases.coordination.k8s.io', namespace: 'nodefence-system' },
    ...{ name: 'nodefence-controller', status: 200, object: { metadata: { name: 'nodefence-controller' }, spec: { holderIdentity } } },
  };
}

describe('P6, of dumps', () => {
  it('catches an off while the kernel dumps, as whoever sends it has heard', () => {
    expect(P6([...waiting(), message(8_000), message(10_000)]).join()).toContain('was set off while a dumped: s1 had heard 2 messages');
  });

  it.each<[what: string, trace: TraceEvent[]]>([
    ['no message', []],
    ['messages of a node whose kubelet may still renew its Lease', [heartbeat(-4_700), message(8_000), message(10_000)]],
    ['one message', [message(10_000)]],
    ['messages that only another controller heard', [message(8_000, 's2'), message(10_000, 's2')]],
    ['messages before the kubelet lived last', [message(8_000), message(9_000), heartbeat(9_500)]],
  ])('asks nothing after %s', (_what, trace) => {
    expect(P6([...waiting(), ...trace])).toEqual([]);
  });

  it('asks nothing after silence, nor beyond the limit, nor where no dump is waited for', () => {
    const messages = [message(8_000), message(9_000)];
    expect(P6([...waiting({ ...KDUMP, finishedTimeoutMs: 1_000 }), ...messages])).toEqual([]);
    expect(P6([...waiting({ ...KDUMP, maxDurationMs: 2_000 }), ...messages])).toEqual([]);
    expect(P6([...goodTrace(), ...messages])).toEqual([]);
  });

  it('counts a restore of etcd as a sign of life: it writes the Lease of the kubelet anew', () => {
    const restored: TraceEvent = { kind: 'fault', at: 9_500, fault: 'etcd-restored', node: '' };
    const messages = [message(8_000), message(9_000)];
    expect(P6([...waiting(), ...messages])).not.toEqual([]);
    expect(P6([...waiting(), ...messages, restored])).toEqual([]);
  });

  it('asks nothing of a second off', () => {
    const journal = [entry('off', { id: 'off-0', finishedAt: '', result: 'timeout' })];
    const frozen = { nodeUID: 'node-a', plan: plan({ kdump: KDUMP }) };
    const tried = fenceWrite(10_150, status([...journal, entry('off')], { frozen }));
    expect(P6([...waiting(), tried, message(8_000), message(10_000)])).toEqual([]);
  });

  it('catches a hold for a dump that nobody hears, that is over, or beyond its limit', () => {
    const messages = [message(6_500), message(7_000)];
    const before = waiting().filter(({ at }) => at < 9_000);
    expect(P6([...before, held(9_000, 'kdump-dumping')]).join()).toContain('waits for a dump of a, of which nothing was heard');
    expect(P6([...before, ...messages.slice(1), held(9_000, 'kdump-dumping')]).join()).toContain('of which 1 messages came');
    expect(P6([...before, ...messages, held(9_000, 'kdump-dumping'), held(60_000, 'kdump-dumping')])).toEqual([]);
    expect(P6([...before, ...messages, held(64_001, 'kdump-dumping')]).join()).toContain('the last at 7000');
    const endless = Array.from({ length: 200 }, (_, index) => message(6_500 + index * 1_000));
    expect(P6([...before, ...endless, held(121_000, 'kdump-dumping')])).toEqual([]);
    expect(P6([...before, ...endless, held(121_600, 'kdump-dumping')]).join()).toContain('its fence waits for a dump of a');
  });

  it('lets a leader whose machine was suspended wait for so much longer, and another one not', () => {
    const endless = Array.from({ length: 200 }, (_, index) => message(6_500 + index * 1_000));
    const before = [...waiting().filter(({ at }) => at < 9_000), ...endless];
    const suspended = (id: string): TraceEvent[] => [
      { kind: 'controller', id, what: 'pause', at: 60_000 },
      { kind: 'controller', id, what: 'pause', at: 65_000 },
      { kind: 'controller', id, what: 'resume', at: 66_000 },
      { kind: 'controller', id, what: 'resume', at: 70_000 },
    ];
    expect(P6([...before, ...suspended('one'), held(131_400, 'kdump-dumping')])).toEqual([]);
    expect(P6([...before, ...suspended('one'), held(131_600, 'kdump-dumping')]).join()).toContain('its fence waits for a dump of a');
    expect(P6([...before, ...suspended('two'), held(121_600, 'kdump-dumping')]).join()).toContain('its fence waits for a dump of a');
  });

  it('lets a leader whose watch hangs hold for a dump that the kubelet ended, and no longer than a watch may hang', () => {
    const limit = { ...KDUMP, finishedTimeoutMs: 200_000, maxDurationMs: 300_000 };
    const ended = [...waiting(limit).filter(({ at }) => at < 9_000), message(6_500), message(7_500), heartbeat(9_000)];
    expect(P6([...ended, held(113_999, 'kdump-dumping', limit)])).toEqual([]);
    expect(P6([...ended, held(114_000, 'kdump-dumping', limit)]).join()).toContain('nothing was heard');
  });

  it('counts the limit from the messages since its kubelet lived last: those that somebody had sent before do not bring it nearer', () => {
    const limit = { ...KDUMP, maxDurationMs: 10_000 };
    const before = [...waiting(limit).filter(({ at }) => at < 9_000), message(-40_000), message(-39_000), message(6_500), message(7_500)];
    expect(P6([...before, held(31_499, 'kdump-dumping', limit)])).toEqual([]);
    expect(P6([...before, held(31_501, 'kdump-dumping', limit)]).join()).toContain('its fence waits for a dump of a, of which 4 messages came');
  });

  it('counts the silence for a new leader from when it took the Lease, however long nobody had led before', () => {
    const limit = { ...KDUMP, maxDurationMs: 300_000 };
    const before = [...waiting(limit).filter(({ at }) => at < 9_000), message(6_500), message(7_500)];
    const taken = [...before, led(8_000, 'one_1'), led(100_000, 'two_2'), led(110_000, 'two_2')];
    expect(P6([...taken, held(156_000, 'kdump-dumping', limit)])).toEqual([]);
    expect(P6([...taken, held(158_000, 'kdump-dumping', limit)]).join()).toContain('its fence waits for a dump of a');
  });

  it('lets a new leader count the limit from when it took the Lease where a clock on the wall was set before, and no other one', () => {
    const limit = { ...KDUMP, finishedTimeoutMs: 200_000, maxDurationMs: 30_000 };
    const before = [...waiting(limit).filter(({ at }) => at < 9_000), message(6_500), message(7_500)];
    const set: TraceEvent = { kind: 'controller', id: 'one', what: 'clock-set', at: 7_000 };
    const lost: TraceEvent[] = [led(8_000, 'one_1'), led(20_000, 'two_2')];
    expect(P6([...before, ...lost, held(52_000, 'kdump-dumping', limit)]).join()).toContain('its fence waits for a dump of a');
    expect(P6([...before, set, ...lost, held(52_000, 'kdump-dumping', limit)])).toEqual([]);
    expect(P6([...before, set, ...lost, held(66_000, 'kdump-dumping', limit)]).join()).toContain('its fence waits for a dump of a');
  });

  it('catches a first message that is awaited for longer than kdump_start_timeout', () => {
    const before = waiting().filter(({ at }) => at < 9_000);
    expect(P6([...before, held(9_000, 'kdump-awaited'), held(28_000, 'kdump-awaited')])).toEqual([]);
    expect(P6([...before, held(9_000, 'kdump-awaited'), held(29_100, 'kdump-awaited')]).join()).toContain('a is still awaited to dump, since 9000');
  });
});
