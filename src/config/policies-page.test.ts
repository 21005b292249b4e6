import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { POLICY_NAMES, STORM_REASONS } from '../domain/policies/policy.ts';
import { configurationOf } from './configuration.ts';
import { COMMON_POLICY_KEYS, POLICY_KEYS } from './policies-keys.ts';
import { DEFAULT_POLICIES, resolvePolicies } from './policies.ts';
import { Problems } from './problems.ts';
import { fakeRegistry } from './testing/fake-agents.ts';

const PAGE = readFileSync(new URL('../../docs/policies.md', import.meta.url), 'utf8');
const rows = new Map([...PAGE.matchAll(/^\| `([a-z-]+)` +\|(.*)\|$/gm)].map(([, name = '', cells = '']) => [name, cells.split('|')]));

describe('docs/policies.md', () => {
  it.each(POLICY_NAMES)('says of %s its keys, and whether it stands without configuration', (name) => {
    const [keys = '', byDefault = ''] = rows.get(name) ?? [];
    for (const key of Object.keys(POLICY_KEYS[name])) expect(keys).toContain(`\`${key}\``);
    expect(/\bon *$/.test(byDefault)).toBe(DEFAULT_POLICIES.includes(name));
  });

  it('names every common key, every reason, and what a storm is', () => {
    for (const key of Object.keys(COMMON_POLICY_KEYS)) expect(PAGE).toContain(`\`${key}\``);
    for (const reason of STORM_REASONS) expect(PAGE).toContain(`\`${reason}\``);
    for (const policy of ['max-unhealthy', 'failure-domain', 'alerts']) expect((rows.get('cooldown') ?? []).at(-1)).toContain(`\`${policy}\``);
  });

  const examples = [...PAGE.matchAll(/```properties\n# ConfigMap (fence-policy-[a-z-]+)[^\n]*\n(.*?)```/gs)].map(
    ([, name = '', text = '']) => [name, text] as const,
  );

  it.each(examples)('the example %s is without any problem and stands', (name, text) => {
    const problems = new Problems();
    const configuration = configurationOf([{ name, data: { 'config.properties': text } }], fakeRegistry());
    const policies = resolvePolicies(configuration, undefined, problems);
    expect(problems.all()).toEqual([]);
    expect(policies.map((policy) => policy.name)).toContain(name.replace('fence-policy-', ''));
  });

  it('has examples', () => {
    expect(examples.length).toBeGreaterThanOrEqual(7);
  });
});
