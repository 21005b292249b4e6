import { describe, expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import { PLAIN } from '../../src/cli/commands/terminal/ink.ts';
import type { Input } from '../../src/cli/validate/input.ts';
import { reportObject } from '../../src/cli/validate/report.ts';
import { reportText } from '../../src/cli/validate/report-text.ts';
import { validate } from '../../src/cli/validate/validation.ts';

function validated(configs: Readonly<Record<string, string>>, more: Partial<Input> = {}): { text: string; object: object } {
  const configMaps = Object.entries(configs).map(([name, text]) => ({ name, data: { 'config.properties': text } }));
  const input: Input = {
    source: 's',
    configMaps,
    secrets: undefined,
    nodes: [],
    recordedUUIDs: new Map(),
    problems: [],
    notes: [],
    locate: () => undefined,
    ...more,
  };
  const { report } = validate(input, standardRegistry(), []);
  return { text: reportText(report, PLAIN), object: reportObject(report) };
}

describe('nodefence validate of storm policies', () => {
  const MORE = 'control-plane, startup-grace, maintenance, cooldown by default';

  it('names those that stand by what is configured, and those by default', () => {
    const configs = {
      'fence-policy-max-unhealthy': 'percentage=30',
      'fence-policy-rate': 'enabled=no',
      'fence-policy-db': 'policy_name=max-concurrent\nnode_selector=a=b',
    };
    const { text, object } = validated(configs);
    expect(text).toContain('storm policies: max-unhealthy, db as configured; max-concurrent, controller-isolated, ');
    expect(text).toContain(MORE);
    expect(text).not.toMatch(/storm policies:.*rate/u);
    expect(object).toMatchObject({ policies: { configured: ['max-unhealthy', 'db'] } });
  });

  it('says that none stands where policies= names none, and nothing where all are the defaults', () => {
    expect(validated({ 'fence-cluster-config': 'policies=' }).text).toContain('storm policies: none');
    expect(validated({ 'fence-cluster-config': 'settle=9s' }).text).not.toContain('storm policies');
  });

  it('warns of storage-reachable where no node daemon was reported, as docs/policies.md says', () => {
    const configs = { 'fence-policy-storage-reachable': '' };
    const words = 'warning  ConfigMap fence-policy-storage-reachable: hears node daemons, and of no node one was reported: it holds no node';
    expect(validated(configs, { hearsDaemons: false }).text).toContain(words);
    expect(validated(configs, { hearsDaemons: true }).text).not.toContain(words);
    expect(validated(configs).text, 'not known').not.toContain(words);
    expect(validated({ 'fence-policy-storage-reachable': 'enabled=no' }, { hearsDaemons: false }).text).not.toContain(words);
  });
});
