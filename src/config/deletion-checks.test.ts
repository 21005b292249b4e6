import { describe, expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import type { Plan } from '../domain/plan.ts';
import { configurationOf } from './configuration.ts';
import type { NodeFacts } from './configuration.ts';
import { resolvePlan } from './resolve-plan.ts';

const INSTANCE = 'i-0123456789abcdef0';
const DELETION = 'agent_name=restart-instance\naction=delete';

function plan(properties: string, methods: Record<string, string> = {}, change: Partial<NodeFacts> = {}): Plan {
  const data = Object.fromEntries(Object.entries(methods).map(([name, body]) => [`fence-method-${name}`, body]));
  const configuration = configurationOf(
    [
      { name: 'fence-config-worker-1', data: { 'config.properties': properties, ...data } },
      { name: 'fence-cluster-config', data: { 'config.properties': 'aws.action=delete' } },
    ],
    standardRegistry(),
  );
  const node = { name: 'worker-1', providerID: `aws:///eu-central-1a/${INSTANCE}`, labels: {}, annotations: {}, addresses: [], ...change };
  return resolvePlan({ node, configuration });
}

function told({ problems }: Plan, severity: 'error' | 'warning'): string[] {
  return problems.filter((problem) => problem.severity === severity).map(({ message }) => message);
}

describe('a method that deletes the instance', () => {
  it('has to be written as a method of the node: the default plan restarts, whatever the cluster’s ConfigMap says', () => {
    const written = plan('power_management=replace', { replace: DELETION });
    expect(told(written, 'error')).toEqual([]);
    expect(written.powerManagement).toMatchObject([
      { methods: [{ agent: 'aws', plug: INSTANCE, action: 'delete', evidence: 'instance-stopped', parameters: { region: 'eu-central-1' } }] },
    ]);
    expect(plan('power_management=restart-instance').powerManagement).toMatchObject([{ methods: [{ action: 'reboot' }] }]);
    expect(plan('').powerManagement).toEqual([]);
  });

  it('may have a restart as the level below', () => {
    const resolved = plan('power_management=replace\npower_management.2=restart-instance', { replace: DELETION });
    expect(told(resolved, 'error')).toEqual([]);
    expect(resolved.powerManagement.map(({ methods }) => methods.map(({ action }) => action))).toEqual([['delete'], ['reboot']]);
  });

  it.each([
    ['power_management=replace restart-instance', 'both switch'],
    ['power_management=replace back', 'back switches on, and replace deletes'],
    ['power_management=replace other', 'replace and other both delete'],
    ['power_management=replace\nrelease=none', 'release=none keeps its workload'],
    ['recovery=replace', 'recovery may not switch off: replace does delete'],
    ['isolation=replace', 'isolation may not switch power: replace does delete'],
  ])('does not go with %s', (properties, words) => {
    const other = `${DELETION}\nplug=i-0123456789abcdef1`;
    expect(told(plan(properties, { replace: DELETION, other, back: 'agent_name=restart-instance\naction=on' }), 'error')).toContainEqual(
      expect.stringContaining(words),
    );
  });

  it('is refused of an agent that deletes nothing', () => {
    const resolved = plan('power_management=replace', { replace: 'agent_name=redfish\nip=10.0.0.1\nusername=a\npassword=b\naction=delete' });
    expect(told(resolved, 'error')).toContainEqual(expect.stringContaining('action delete does not fence with agent redfish'));
  });

  it.each<[string, Partial<NodeFacts>, string]>([
    ['a Machine of Cluster API', { annotations: { 'cluster.x-k8s.io/machine': 'm' } }, 'kubectl delete machine'],
    ['a NodeClaim of Karpenter', { labels: { 'karpenter.sh/nodepool': 'p' } }, 'kubectl delete nodeclaim'],
  ])('of %s is told to be refused, before the node fails', (_who, change, words) => {
    expect(told(plan('power_management=replace', { replace: DELETION }, change), 'warning')).toContainEqual(expect.stringContaining(words));
  });
});
