import { describe, expect, it } from 'vitest';
import { Problems } from './problems.ts';
import { checkRemedies } from './remedies.ts';

const SEED = `apiVersion: node-remedy/v1alpha
kind: Configuration
# optional node selector
nodeSelector: type=compute
thresholdConfigs:
- nodeConditionType: Ready
  nodeConditionStatus: false
  nodeConditionPeriod: 5s
  remedy1:
   - name: repair
   - period: 3m
  remedy2:
   - name: terminate
   - clean-resourece: true
  recovery:
   - name: recovery
- nodeConditionType: DiskPressure
  nodeConditionStatus: true
  nodeConditionPeriod: 10m
  remedy1:
   - name: storage-fence
   - clean-resourece: true
  recovery:
   - name: recovery
remedyConfigs:
- name: repair
  podTemplate:
   spec:
    containers:
    - name: repair
      env: ["secret-key"]
      configmaps: ["fence-method-config"]
- name: terminate
  podTemplate: {}
`;

function told(change: (seed: string) => string): string[] {
  const problems = new Problems();
  checkRemedies({ name: 'fence-remedies', data: { 'a.yaml': change(SEED) } }, problems);
  return problems.all().map(({ severity, where, message }) => `${severity} ${/line (\d+)/.exec(where)?.[1] ?? '-'}: ${message}`);
}

describe('remedies', () => {
  it('as the seed prints them have nothing wrong', () => {
    expect(told((seed) => seed)).toEqual([]);
  });

  it.each<[what: string, from: string, to: string, expected: string]>([
    ['another version', 'v1alpha', 'v2', 'error 1: apiVersion is node-remedy/v2: it must be node-remedy/v1alpha'],
    ['another kind', 'kind: Configuration', 'kind: Remedy', 'error 2: kind is Remedy: it must be Configuration'],
    ['a selector that is none', 'type=compute', '"type compute"', 'error 4: nodeSelector type compute is no selector'],
    [
      'a remedy that is nowhere',
      'name: repair\n   - period',
      'name: repir\n   - period',
      'error 10: remedy repir does not exist: did you mean repair?',
    ],
    ['a period that is none', 'period: 3m', 'period: often', 'error 11: period must be a duration such as 5s or 3m'],
    ['a gap', 'remedy2', 'remedy3', 'error 6: remedy2 is missing: number the remedies from 1 without a gap'],
    [
      'a status that is none',
      'nodeConditionStatus: false',
      'nodeConditionStatus: bad',
      'error 7: nodeConditionStatus must be true, false or Unknown',
    ],
    [
      'a misspelt key',
      'nodeConditionPeriod: 10m',
      'nodeConditionPeriods: 10m',
      'warning 19: unknown key nodeConditionPeriods: did you mean nodeConditionPeriod?',
    ],
    ['a config that does nothing', '  podTemplate: {}', '', 'error 33: a remedyConfig needs exactly one of podTemplate, fenceMethods, fence'],
    ['broken YAML', 'thresholdConfigs:', 'thresholdConfigs: [', 'error'],
  ])('%s', (_what, from, to, expected) => {
    expect(told((seed) => seed.replace(from, to)).join('\n')).toContain(expected);
  });
});
