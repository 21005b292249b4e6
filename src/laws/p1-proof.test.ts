import { describe, expect, it } from 'vitest';
import { judge } from './judge.ts';
import {
  device,
  edited,
  FOREIGN_TAINT,
  goodTrace,
  node,
  nodePatch,
  OFF_AT,
  OUR_TAINT,
  plan,
  podDelete,
  podEviction,
  RELEASE_AT,
  without,
} from './sample-trace.ts';
import type { NodeFenceStatus } from '../domain/node-fence.ts';
import type { ApiEvent, TraceEvent } from './trace.ts';

const P1 = (trace: readonly TraceEvent[]): { checks: number; violations: string[] } => judge(trace).laws.P1;
const isRead = (event: TraceEvent): boolean => event.kind === 'device' && event.action === 'read' && event.shown === 'off';

/** The good trace of a machine with a second supply, `psu`, on the same level. */
function supplied(more: readonly TraceEvent[]): TraceEvent[] {
  const methods = (plan().powerManagement[0]?.methods ?? []).flatMap((method) => [method, { ...method, name: 'psu', device: 'psu' }]);
  const frozen = { nodeUID: 'node-a', plan: plan({ powerManagement: [{ level: 1, methods }] }) };
  const trace = edited((event) => {
    if (event.kind !== 'api' || event.resource !== 'nodefences.ha.k8s.io' || event.subresource !== 'status') return event;
    const object = event.object as { status: object };
    return { ...event, object: { ...object, status: { ...object.status, frozen } } };
  });
  return [...trace, ...more];
}

describe('P1, proof before release', () => {
  it('passes a release after a stable off', () => {
    expect(P1(goodTrace()).violations).toEqual([]);
    expect(P1(goodTrace()).checks).toBeGreaterThan(0);
  });

  it('catches a release without an off of our own', () => {
    expect(P1(without((event) => event.kind === 'device' && event.action === 'set' && event.want === 'off')).violations.join()).toContain(
      'no device of a had been told off',
    );
  });

  it('catches a release before the off was stable', () => {
    expect(P1(without((event) => isRead(event) && event.at > 13_000)).violations.join()).toContain('had not shown off stably');
  });

  it('catches a release after two reads only', () => {
    expect(P1(without((event) => isRead(event) && event.at > 12_000 && event.at < 14_000)).violations.join()).toContain('2 reads over 3000 ms');
  });

  it('catches another state between the reads', () => {
    const trace = [...goodTrace(), device(13_500, 'read', { shown: 'on' })];
    expect(P1(trace).violations.join()).toContain('1 reads over 0 ms');
  });

  it('catches a device that shows off while the machine runs', () => {
    expect(P1(without((event) => event.kind === 'power' && event.state === 'off')).violations.join()).toContain('was not powered off');
  });

  it('knows a device again whose name has spaces, as a region of a cloud has', () => {
    const named = JSON.stringify(goodTrace()).replaceAll('10.0.0.1:443', 'aws eu-central-1');
    const trace = JSON.parse(named) as TraceEvent[];
    expect(trace).not.toEqual(goodTrace());
    expect(P1(trace).violations).toEqual([]);
  });

  it('counts the proof of two supplies from where both read off together', () => {
    const first = [
      device(10_120, 'set', { device: 'psu', want: 'off', answer: '204' }),
      ...[10_140, 11_210, 12_210, 13_210, 14_210].map((at) => device(at, 'read', { device: 'psu', shown: 'off', answer: '200 Off' })),
    ];
    expect(P1([...goodTrace(), ...first]).violations).toEqual([]);
    const late = edited((event) => (event.kind === 'power' && event.state === 'off' ? { ...event, at: 12_000 } : event));
    expect(P1([...late, ...first]).violations.join()).toContain('was not powered off');
  });

  describe('of two supplies of one level', () => {
    const read = (at: number, shown: 'on' | 'off' = 'off'): TraceEvent => device(at, 'read', { device: 'psu', shown, answer: `200 ${shown}` });
    const set = (at: number, want: 'on' | 'off', answer = '204'): TraceEvent => device(at, 'set', { device: 'psu', want, answer });
    const reads = [11_250, 12_250, 13_250, 14_250].map((at) => read(at));

    it('passes when both were told off and read off', () => {
      expect(P1(supplied([set(10_120, 'off'), ...reads])).violations).toEqual([]);
    });

    it('catches one that was told on again, although the other one was told off after it and is proven', () => {
      const trace = supplied([set(10_120, 'off'), read(10_130), set(10_140, 'on'), read(10_150, 'on')]);
      expect(P1(trace).violations.join()).toContain('psu  had not shown off stably: 0 reads');
    });

    it('catches one that did not go off, although the other one was told off after it and is proven', () => {
      expect(P1(supplied([set(10_120, 'off'), read(12_000, 'on')])).violations.join()).toContain('psu  had not shown off stably: 0 reads');
    });

    it('catches one that was never told', () => {
      expect(P1(supplied([])).violations.join()).toContain('psu  had not shown off stably: 0 reads');
    });

    it('takes one for told whose request was lost, when it reads off all the same', () => {
      expect(P1(supplied([set(10_120, 'off', 'lost'), ...reads])).violations).toEqual([]);
    });
  });

  it('leaves a device of another level out that was told on again before the one that is proven was told off', () => {
    const told = [device(10_110, 'set', { device: 'outlet', want: 'off' }), device(10_130, 'set', { device: 'outlet', want: 'on' })];
    expect(P1([...goodTrace(), ...told]).violations).toEqual([]);
  });

  it('leaves a device out that failed although it read off once, when the next level is proven off', () => {
    const failed = [
      device(10_120, 'set', { device: 'bmc', want: 'off', answer: '403' }),
      device(10_260, 'read', { device: 'bmc', shown: 'off', answer: '200 Off' }),
    ];
    expect(P1([...goodTrace(), ...failed]).violations).toEqual([]);
    const later = failed.map((event) => ({ ...event, at: event.at + 200 }));
    expect(P1([...goodTrace(), ...later]).violations.join()).toContain('bmc  had not shown off stably: 1 reads');
  });

  it('catches a machine that somebody started between read and release', () => {
    const trace: TraceEvent[] = [...goodTrace(), { kind: 'power', at: 14_460, node: 'a', state: 'on', cause: 'restore' }];
    expect(P1(trace).violations).toHaveLength(1);
  });

  it('catches a pod that we force-delete without any fence', () => {
    expect(P1([...goodTrace(), podDelete(5_000, 'nodefence', 0)]).violations.join()).toContain('no NodeFence of a stood');
  });

  it('catches an eviction that gives the pod no time, which is a force-deletion by another name', () => {
    const evicted = (options: object, user = 'nodefence'): string => P1([...goodTrace(), ...podEviction(5_000, user, options)]).violations.join();
    expect(evicted({ gracePeriodSeconds: 0, preconditions: { uid: 'pod-1' } })).toContain('pod db-0 was force-evicted');
    expect(evicted({ gracePeriodSeconds: 1 })).toBe('');
    expect(evicted({})).toBe('');
    expect(evicted({ gracePeriodSeconds: 0 }, 'somebody')).toBe('');
  });

  it('leaves it to Kubernetes to force-delete pods', () => {
    expect(P1([...goodTrace(), podDelete(5_000, 'system:pod-garbage-collector', 0)]).violations).toEqual([]);
  });

  it('does not take an off of before the fence for our own', () => {
    const trace = edited((event) => (event.kind === 'device' && event.at === OFF_AT ? { ...event, at: 9_000 } : event));
    expect(P1(trace).violations.join()).toContain('no device of a had been told off');
  });

  it('does not take a taint that stood already for a release', () => {
    const tainted = nodePatch(RELEASE_AT + 50, node({ taints: [FOREIGN_TAINT, OUR_TAINT], unschedulable: true }));
    expect(P1([...goodTrace(), tainted]).checks).toBe(P1(goodTrace()).checks);
  });
});

describe('P1, what a fence takes for a proof of off', () => {
  const OFF = { shown: 'off', answer: '200 Off' } as const;
  const isFence = (event: TraceEvent): event is ApiEvent => event.kind === 'api' && event.resource === 'nodefences.ha.k8s.io';
  /** Nothing is released on it: only what the NodeFence says is judged. */
  const given = (reads: readonly number[], more: readonly TraceEvent[] = []): string[] => {
    const kept = without((event) => isRead(event) || (event.at > 14_300 && (isFence(event) || event.at === RELEASE_AT)));
    return P1([...kept, ...reads.map((at) => device(at, 'read', OFF)), ...more]).violations;
  };

  it('is one where it was read stably after its off', () => {
    expect(given([11_200, 12_200, 13_200, 14_200])).toEqual([]);
  });

  it('is none where a read is counted that was begun while the node was isolated, before its off was intended', () => {
    const words = 'a was taken for proven off, but 10.0.0.1:443 had not shown off stably since the run that proved it was intended';
    expect(given([10_060, 11_200, 12_200, 13_100]).join()).toContain(words);
    expect(given([9_000, 10_060, 11_200, 12_200]).join()).toContain(words);
  });

  it('is none where a read is counted that came between the intent of its off and the off itself', () => {
    expect(given([10_160, 11_200, 13_180]).join()).toContain('had not shown off stably');
  });

  it('is none where it was read too seldom, or showed something else in between', () => {
    expect(given([11_200, 14_250]).join()).toContain('had not shown off stably');
    expect(given([11_200, 12_200, 14_250], [device(13_000, 'read', { shown: 'on' })]).join()).toContain('had not shown off stably');
  });

  it('stays one where somebody switched the machine on before it was written', () => {
    expect(given([10_900, 11_900, 12_900, 13_910], [device(14_100, 'read', { shown: 'on' })])).toEqual([]);
  });

  it('is none where nobody had told it off', () => {
    const trace = without((event) => event.kind === 'device' && event.action === 'set' && event.want === 'off');
    expect(P1(trace).violations.join()).toContain('a was taken for proven off, but 10.0.0.1:443 had not been told off since the fence began');
  });

  it('is none where no run has proven it', () => {
    const trace = edited((event) => {
      if (!isFence(event) || event.subresource !== 'status') return event;
      const object = event.object as { status: NodeFenceStatus };
      return { ...event, object: { ...object, status: { ...object.status, journal: [] } } };
    });
    expect(P1(trace).violations.join()).toContain('no run of its journal has proven it');
  });

  it('is none where one supply of several was not read after its off', () => {
    const psu = (at: number, action: 'set' | 'read', rest: object): TraceEvent => device(at, action, { device: 'psu', ...rest });
    const told = psu(10_120, 'set', { want: 'off', answer: '204' });
    const reads = [11_250, 12_250, 13_250, 14_250].map((at) => psu(at, 'read', OFF));
    const complaint = 'a was taken for proven off, but psu had not';
    expect(P1(supplied([told, ...reads])).violations).toEqual([]);
    expect(P1(supplied([told])).violations.join()).toContain(`${complaint} shown off stably`);
    expect(P1(supplied([])).violations.join()).toContain(`${complaint} been told off`);
  });
});
