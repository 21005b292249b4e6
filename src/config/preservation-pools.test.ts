import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePreservationPools } from './preservation-pools.ts';
import { Problems } from './problems.ts';
import { anyText } from '../../test/any-text.ts';

const HOUR_MS = 3_600_000;

function read(text: string, key = 'pools.yaml'): { pools: Record<string, unknown>; problems: string[] } {
  const problems = new Problems();
  const pools = Object.fromEntries(parsePreservationPools({ [key]: text }, problems));
  return { pools, problems: problems.all().map(({ where, message }) => `${where}: ${message}`) };
}

const GUIDE = `apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
...
spec:
  workers:
  - cri:
      name: containerd
    name: worker1
    autoPreserveFailedMachineMax: 1
    machineControllerManager:
      machinePreserveTimeout: 72h
`;

const PROPOSAL = `    machineControllerManager:
       autoPreserveFailedMax: 0
       machinePreserveTimeout: 72h
`;

describe('ConfigMap preservation-pools', () => {
  it('takes the Shoot as the guide prints it, with its three dots', () => {
    expect(read(GUIDE)).toEqual({ pools: { worker1: { autoPreserveMax: 1, preserveTimeoutMs: 72 * HOUR_MS } }, problems: [] });
  });

  it('takes the fragment as the proposal prints it; its key is the name of the pool', () => {
    expect(read(PROPOSAL, 'worker1')).toEqual({ pools: { worker1: { autoPreserveMax: 0, preserveTimeoutMs: 72 * HOUR_MS } }, problems: [] });
  });

  it.each(['autoPreserveFailedMachineMax', 'autoPreserveFailedMax', 'machinePreserveMax'])(
    'takes %s beside and under machineControllerManager',
    (name) => {
      expect(read(`{name: a, ${name}: 3}`).pools).toEqual({ a: { autoPreserveMax: 3, preserveTimeoutMs: 72 * HOUR_MS } });
      expect(read(`- {name: a, machineControllerManager: {${name}: 3}}`).pools).toEqual({
        a: { autoPreserveMax: 3, preserveTimeoutMs: 72 * HOUR_MS },
      });
    },
  );

  it('takes machineHealthTimeout as a Shoot has it', () => {
    const { pools, problems } = read('- {name: a, machineControllerManager: {machineHealthTimeout: 20m}}\n- {name: b, machineHealthTimeout: soon}');
    expect(pools['a']).toEqual({ autoPreserveMax: 0, preserveTimeoutMs: 72 * HOUR_MS, healthTimeoutMs: 20 * 60_000 });
    expect(pools['b']).toEqual({ autoPreserveMax: 0, preserveTimeoutMs: 72 * HOUR_MS });
    expect(problems).toEqual([expect.stringContaining('soon is not a duration like 72h')]);
  });

  it('preserves nobody automatically, and for 72h who asks, where nothing is said', () => {
    expect(read('provider: {workers: [{name: a, minimum: 1}]}')).toEqual({
      pools: { a: { autoPreserveMax: 0, preserveTimeoutMs: 72 * HOUR_MS } },
      problems: [],
    });
  });

  it.each([
    ['a negative maximum', '- name: a\n  autoPreserveFailedMax: -1', 2, '-1 is not a whole number from 0 to 10000'],
    ['a text as maximum', '- name: a\n\n  autoPreserveFailedMax: two', 3, 'two is not a whole number'],
    ['a time without sense', '- name: a\n  machineControllerManager:\n    machinePreserveTimeout: long', 3, 'long is not a duration like 72h'],
    ['a time that no calendar has', '- name: a\n  machinePreserveTimeout: 99999999999h', 2, '99999999999h is not a duration like 72h'],
    ['a time without a unit', '- name: a\n  machinePreserveTimeout: 72', 2, '72 is not a duration like 72h'],
    ['the maximum twice', '- name: a\n  machinePreserveMax: 1\n  autoPreserveFailedMax: 2', 2, 'says again'],
    ['a pool twice', '- name: a\n- name: a', 2, 'pool a is given twice'],
    ['a slip of the pen', 'machineControllerManager:\n  autoPreserveMax: 1', 2, 'autoPreserveMax is unknown'],
    ['a worker without a name', '- autoPreserveFailedMax: 1', 1, 'needs a name'],
    ['no workers', 'spec:\n  region: x', 2, 'spec has no workers'],
    ['workers that are none', 'workers: 3', 1, 'workers is not a list'],
    ['a text', 'hello', 1, 'is neither a worker nor a list'],
    ['indentation lost in copying', 'workers:\n- cri:\nname: containerd\nname: worker1', 4, 'is not YAML: '],
  ])('tells of %s with its line', (_what, text, line, message) => {
    const [told = ''] = read(text).problems;
    expect(told).toContain(`ConfigMap preservation-pools, key pools.yaml, line ${line}: `);
    expect(told).toContain(message);
  });

  it('reads the three dots as what was left out, and counts lines as they stand', () => {
    expect(read(GUIDE.replace('72h', 'ever')).problems).toEqual([
      'ConfigMap preservation-pools, key pools.yaml, line 11: ever is not a duration like 72h',
    ]);
  });

  it('survives any text', () => {
    const tokens = [
      '- ',
      'name: a\n',
      'workers:\n',
      '  ',
      'spec:\n',
      'machineControllerManager:\n',
      '...\n',
      '---\n',
      '{',
      '*a',
      'machinePreserveTimeout: 1h\n',
    ];
    const texts = fc.oneof(
      anyText(),
      fc.array(fc.constantFrom(...tokens)).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(texts, (text) => {
        for (const pool of Object.values(read(text).pools)) expect(pool).toHaveProperty('autoPreserveMax');
      }),
      { numRuns: 500 },
    );
  });

  it('does not read what is too long', () => {
    expect(read('#'.repeat(300_000)).problems[0]).toContain('is longer than');
  });
});
