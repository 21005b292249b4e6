import { describe, expect, it } from 'vitest';
import { Problems } from './problems.ts';
import { readRemedies } from './remedies.ts';
import { remedyProblems } from './remedy-checks.ts';
import { plan, SEED, seedWith } from './testing/plans.ts';
import type { ConfigMaps } from './testing/plans.ts';

function found(thresholds: string, remedies = '', configMaps: ConfigMaps = SEED): string[] {
  const text = `apiVersion: node-remedy/v1alpha\nkind: Configuration\nthresholdConfigs:\n${thresholds}\nremedyConfigs: [${remedies}]\n`;
  const problems = new Problems();
  const configurations = readRemedies([{ name: 'fence-remedies', data: { 'a.yaml': text } }], problems);
  expect(problems.all()).toEqual([]);
  const all = remedyProblems(configurations, { labels: {} }, (asked) => plan(configMaps, asked === undefined ? {} : { asked }));
  return all.map(({ severity, where, message }) => `${severity} ${where}: ${message}`);
}

const threshold = (more: string): string => `  - {nodeConditionType: X, nodeConditionStatus: true, nodeConditionPeriod: 1m, ${more}}`;
const AT = 'ConfigMap fence-remedies, key a.yaml, line 4';

describe('remedies and the configuration of a node', () => {
  it('fit where the node has what they name', () => {
    const all = 'remedy1: {name: storage-fence}, remedy2: {name: quick}, remedy3: {name: fence}, recovery: {name: recovery}';
    expect(found(threshold(all), '{name: quick, fenceMethods: [bmc-off, bmc-on]}')).toEqual([]);
    expect(found(threshold('remedy1: {name: quick}'), '{name: quick, fenceMethods: [mark-unschedulable]}')).toEqual([]);
  });

  it('a method that the node does not have is an error, before its condition stands', () => {
    expect(found(threshold('remedy1: {name: quick}'), '{name: quick, fenceMethods: [bmc-of]}')).toEqual([
      expect.stringMatching(new RegExp(`^error ${AT}: remedy quick of X=True: .*bmc-of`)) as string,
    ]);
  });

  it('a step that the node does not have is an error', () => {
    const bare: ConfigMaps = { 'fence-config-node-a': { 'config.properties': 'node_name=node-a\nisolation=\npower_management=\n' } };
    expect(found(threshold('remedy1: {name: storage-fence}, remedy2: {name: fence}'), '', bare)).toEqual([
      `error ${AT}: remedy storage-fence of X=True: the node has no isolation step, so that nothing is isolated: write isolation= in its configuration, or leave it out of nodeSelector`,
      `error ${AT}: remedy fence of X=True: the node has no power_management step, so that its fence comes to nothing: write one in its configuration, or leave it out of nodeSelector`,
    ]);
  });

  it('a cordon that nothing takes back is a warning', () => {
    const warning = `warning ${AT}: X=True: nothing takes back the cordon of its remedies: write recovery with name: uncordon, or uncordon by hand`;
    expect(found(threshold('remedy1: {name: drain}'))).toEqual([warning]);
    expect(found(threshold('remedy1: {name: cordon}, recovery: {name: recovery}'))).toEqual([warning]);
    expect(found(threshold('remedy1: {name: drain}, recovery: {name: uncordon}'))).toEqual([]);
    expect(found(threshold('remedy1: {name: clean-pods}'), '', seedWith(''))).toEqual([]);
  });
});
