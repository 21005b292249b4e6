import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readHealthCheck } from '../../src/controllers/machine-health-check/read/health-check.ts';
import type { HealthCheck } from '../../src/controllers/machine-health-check/snapshot.ts';
import { checkObject, machineObject } from './objects.ts';
import { WatchedCluster } from './watched-cluster.ts';

function check(matchLabels: Record<string, string>): HealthCheck {
  return readHealthCheck(checkObject('c', { selector: { matchLabels } }), { hasBothLists: true }).check;
}

describe('candidates of a check', () => {
  it('are those with its rarest label', () => {
    const { machines, candidates } = clusterOf();
    for (let index = 0; index < 10; index += 1) machines.put(machineObject(`m${index}`, { labels: { pool: `pool-${index % 5}` } }));
    const names = candidates(check({ role: 'worker', pool: 'pool-1' }));
    expect(names).toEqual(['m1', 'm6']);
  });

  it('are all of the namespace where it names no label', () => {
    const { machines, candidates } = clusterOf();
    machines.put(machineObject('a'));
    machines.put(machineObject('b', { namespace: 'other' }));
    expect(candidates(check({}))).toEqual(['a']);
  });

  it('are never fewer than it selects, in whatever order machines come, change and go', () => {
    const labels = fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2'));
    const change = fc.record({ isGone: fc.boolean(), index: fc.integer({ min: 0, max: 3 }), labels });
    const sizes = new Set<number>();
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), labels, (changes, wanted) => {
        const { machines, candidates } = clusterOf();
        for (const { isGone, index, labels: given } of changes) {
          if (isGone) machines.remove(`default/m${index}`);
          else machines.put(machineObject(`m${index}`, { labels: given }));
        }
        const one = check(wanted);
        const selected = [...machines.all()].filter(({ metadata }) => one.selects(metadata.labels ?? {})).map(({ metadata }) => metadata.name);
        sizes.add(selected.length);
        const found = new Set(candidates(one));
        expect(selected.filter((name) => !found.has(name))).toEqual([]);
      }),
    );
    expect([...sizes]).toEqual(expect.arrayContaining([0, 1, 2]));
  });
});

function clusterOf(): Pick<WatchedCluster, 'machines'> & { candidates: (of: HealthCheck) => string[] } {
  const cluster = new WatchedCluster();
  const { cache } = cluster.follow();
  return { machines: cluster.machines, candidates: (of) => cache.candidatesOf(of).map(({ name }) => name) };
}
