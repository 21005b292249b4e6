import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Candidates } from './candidates.ts';
import type { HealthCheck, MachineFacts } from './snapshot.ts';

function machine(name: string, labels: Record<string, string>, namespace = 'default'): MachineFacts {
  return { name, namespace, labels } as MachineFacts;
}

function check(name: string, matchLabels: Record<string, string>, namespace = 'default'): HealthCheck {
  return { name, namespace, matchLabels } as HealthCheck;
}

describe('candidates of a check', () => {
  it('are those with its rarest label', () => {
    const candidates = new Candidates();
    for (let index = 0; index < 10; index += 1) candidates.putMachine(machine(`m${index}`, { role: 'worker', pool: `pool-${index % 5}` }));
    expect([...candidates.putCheck(check('c', { role: 'worker', pool: 'pool-1' }))]).toEqual(['default/m1', 'default/m6']);
    expect(candidates.checksFor(machine('new', { role: 'worker', pool: 'pool-1' }))).toEqual(['default/c']);
    expect(candidates.checksFor(machine('new', { role: 'worker', pool: 'pool-2' }))).toEqual([]);
    candidates.removeCheck('default/c');
    expect(candidates.checksFor(machine('new', { role: 'worker', pool: 'pool-1' }))).toEqual([]);
  });

  it('are all of the namespace where it names no label', () => {
    const candidates = new Candidates();
    candidates.putMachine(machine('a', {}));
    candidates.putMachine(machine('b', {}, 'other'));
    expect([...candidates.putCheck(check('c', {}))]).toEqual(['default/a']);
    expect(candidates.checksFor(machine('b', {}, 'other'))).toEqual([]);
  });

  it('are never fewer than it selects, in whatever order machines and checks come and go', () => {
    const labels = fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2'));
    const sizes = new Set<number>();
    const change = fc.record({ isCheck: fc.boolean(), isGone: fc.boolean(), index: fc.integer({ min: 0, max: 3 }), labels });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const candidates = new Candidates();
        const missed: string[] = [];
        const [machines, checks] = [new Map<number, MachineFacts>(), new Map<number, HealthCheck>()];
        const selects = (one: HealthCheck, other: MachineFacts): boolean =>
          Object.entries(one.matchLabels).every(([key, value]) => other.labels[key] === value);
        const putCheck = (index: number, given: Record<string, string>): void => {
          const added = check(`c${index}`, given);
          checks.set(index, added);
          const found = candidates.putCheck(added);
          const selected = [...machines.values()].filter((each) => selects(added, each)).map(({ name }) => `default/${name}`);
          sizes.add(selected.length);
          missed.push(...selected.filter((key) => !new Set(found).has(key)));
        };
        const putMachine = (index: number, given: Record<string, string>): void => {
          const added = machine(`m${index}`, given);
          machines.set(index, added);
          candidates.putMachine(added);
          const selecting = [...checks.values()].filter((each) => selects(each, added)).map(({ name }) => `default/${name}`);
          sizes.add(selecting.length);
          missed.push(...selecting.filter((key) => !candidates.checksFor(added).includes(key)));
        };
        for (const { isCheck, isGone, index, labels: given } of changes) {
          if (isCheck) {
            if (checks.delete(index)) candidates.removeCheck(`default/c${index}`);
            if (!isGone) putCheck(index, given);
          } else {
            const before = machines.get(index);
            if (before !== undefined) candidates.removeMachine(before);
            machines.delete(index);
            if (!isGone) putMachine(index, given);
          }
        }
        expect(missed).toEqual([]);
      }),
    );
    expect([...sizes]).toEqual(expect.arrayContaining([0, 1, 2]));
  });
});
