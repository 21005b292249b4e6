import { describe, expect, it } from 'vitest';
import { configurationOf } from './configuration.ts';
import { checkPolicyReach } from './policies-reach.ts';
import { Problems } from './problems.ts';
import { fakeRegistry } from './testing/fake-agents.ts';

function told(name: string, text: string, racks: readonly string[]): string[] {
  const problems = new Problems();
  const nodes = racks.map((rack, index) => ({ name: `n${index}`, labels: rack === '' ? {} : { rack }, annotations: {}, addresses: [] }));
  const configuration = configurationOf([{ name: `fence-policy-${name}`, data: { 'config.properties': text } }], fakeRegistry());
  checkPolicyReach(configuration, new Map(nodes.map((node) => [node.name, node])), problems);
  return problems.all().map(({ severity, message }) => `${severity}: ${message}`);
}

describe('what a policy comes to on the nodes of this cluster', () => {
  const NOBODY = ['warning: its node_selector matches no Node: it holds no node'];
  const NEVER = (count: string): string[] => [
    `warning: of ${count} in its scope none may be unhealthy: none is ever fenced; raise percentage, or write max=1`,
  ];
  it.each<[name: string, text: string, racks: string[], expected: string[]]>([
    ['rate', 'node_selector=rack=r1', ['r1'], []],
    ['rate', 'node_selector=rack=r1', ['r2', ''], NOBODY],
    ['rate', 'node_selector=rack=r1\nenabled=no', ['r2'], []],
    ['rate', '', [], []],
    ['failure-domain', 'topology_key=rack', ['', 'r1'], []],
    ['failure-domain', 'topology_key=rack feed', ['r1'], ['warning: topology_key feed: no Node has that label, it sees no failure domain']],
    ['max-concurrent', 'topology_key=feed', ['r1'], ['warning: topology_key feed: no Node has that label, it distinguishes no failure domains']],
    ['max-unhealthy', 'percentage=40', ['r1'], NEVER('1 Node')],
    ['max-unhealthy', 'max=1', ['r1'], []],
    ['max-unhealthy', 'percentage=10', Array.from({ length: 9 }, () => ''), NEVER('9 Nodes')],
    ['max-unhealthy', 'percentage=10', Array.from({ length: 10 }, () => ''), []],
    ['max-unhealthy', 'percentage=10\nnode_selector=rack=r1', [...Array.from({ length: 10 }, () => ''), 'r1'], NEVER('1 Node')],
    ['max-unhealthy', 'percentage=x', ['r1'], []],
  ])('%s with %j on racks %j', (name, text, racks, expected) => {
    expect(told(name, text, racks)).toEqual(expected);
  });
});
