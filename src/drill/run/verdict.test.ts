import { describe, expect, it } from 'vitest';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import type { DeviceEvent } from '../../laws/trace.ts';
import { bystanders, listedAgain, wrongEnd } from './verdict.ts';

const UNTOUCHED = { outcome: 'untouched', released: false, deadlineMs: 1 } as const;

function status(outcome: NodeFenceStatus['outcome'], releasedAt?: string): NodeFenceStatus {
  return { state: 'final', step: 'recovery', outcome, timeline: releasedAt === undefined ? {} : { releasedAt } } as unknown as NodeFenceStatus;
}

describe('the end of a node that broke', () => {
  it('is right when outcome and release are those of the fault', () => {
    expect(wrongEnd('a', status('untouched'), UNTOUCHED, false)).toEqual([]);
    expect(wrongEnd('a', status('recovered', 'then'), { ...UNTOUCHED, outcome: 'recovered', released: true }, false)).toEqual([]);
  });

  it('names the node where several broke', () => {
    expect(wrongEnd('a', status('recovered', 'then'), UNTOUCHED, true)).toEqual([
      'a: outcome recovered instead of untouched',
      'a: something was released',
    ]);
    expect(wrongEnd('a', undefined, UNTOUCHED, false)).toEqual(['outcome no fence instead of untouched']);
  });

  it('is for the fault to judge where it says so', () => {
    expect(wrongEnd('a', status('failed', 'then'), { ...UNTOUCHED, outcome: 'judged' }, false)).toEqual([]);
  });

  it('is no business of a machine that nobody broke: each set there is a problem', () => {
    const set: DeviceEvent = { kind: 'device', at: 1, device: 'bmc', plug: '', node: 'b', action: 'set', want: 'off', answer: '204', session: 's' };
    expect(bystanders([set, { ...set, action: 'read' }], ['a'])).toEqual(['b, which nobody broke, was told to switch off']);
    expect(bystanders([set], ['a', 'b'])).toEqual([]);
  });
});

describe('lists after the first sync', () => {
  const PLAIN = { hasMachines: false, hasHosts: false, terms: 0 };
  const KEPT = { ...PLAIN, hasMachines: true };
  const [stops, pods, sets] = ['nodefencestops.ha.k8s.io', 'pods', 'machinesets.machine.sapcloud.io'];

  it('are those of stops and of the API servers’ addresses, where nothing is preserved', () => {
    expect(listedAgain({ [stops]: 9, 'endpointslices.discovery.k8s.io': 9 }, PLAIN, 2)).toEqual([]);
    expect(listedAgain({ [stops]: 9, [pods]: 1 }, PLAIN, 2)).toEqual(['pods was listed again after the first sync']);
  });

  it('are what preservation must ask, and its first look at MachineSets', () => {
    expect(listedAgain({ [pods]: 9, [sets]: 2 }, KEPT, 2)).toEqual([]);
    expect(listedAgain({ [sets]: 3 }, KEPT, 2)).toHaveLength(1);
    expect(listedAgain({ nodes: 1 }, KEPT, 2)).toEqual(['nodes was listed again after the first sync']);
  });

  it('are what remedies must ask, and their first look at Jobs', () => {
    const jobs = 'jobs.batch';
    expect(listedAgain({ [pods]: 9, [jobs]: 2 }, { ...PLAIN, hasRemedies: true }, 2)).toEqual([]);
    expect(listedAgain({ [jobs]: 3 }, { ...PLAIN, hasRemedies: true }, 2)).toEqual([`${jobs} was listed again after the first sync`]);
    expect(listedAgain({ [jobs]: 1 }, PLAIN, 2)).toHaveLength(1);
  });

  it('are the records that each leader reads as it begins', () => {
    const fences = 'nodefences.ha.k8s.io';
    expect(listedAgain({ [fences]: 2 }, { ...PLAIN, terms: 2 }, 2)).toEqual([]);
    expect(listedAgain({ [fences]: 3 }, { ...PLAIN, terms: 2 }, 2)).toEqual([`${fences} was listed again after the first sync`]);
  });

  it('are, beside hosts, the first look of each replica at kinds that are found later', () => {
    const [machines, leases, fences] = ['machines.cluster.x-k8s.io', 'leases.coordination.k8s.io', 'nodefences.ha.k8s.io'];
    expect(listedAgain({ [machines]: 2, [leases]: 9 }, { ...PLAIN, hasHosts: true }, 2)).toEqual([]);
    expect(listedAgain({ [machines]: 3, [fences]: 1 }, { ...PLAIN, hasHosts: true }, 2)).toHaveLength(2);
    expect(listedAgain({ [machines]: 1 }, PLAIN, 2)).toHaveLength(1);
    for (const made of ['metal3remediations.infrastructure.cluster.x-k8s.io', 'nodefenceremediationtemplates.ha.k8s.io']) {
      expect(listedAgain({ [made]: 4 }, { ...PLAIN, hasHosts: true }, 2)).toEqual([]);
      expect(listedAgain({ [made]: 5 }, { ...PLAIN, hasHosts: true }, 2)).toHaveLength(1);
    }
  });
});
