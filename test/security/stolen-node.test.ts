// What whoever has the credential of one kubelet can make of the fences of others: a kubelet says its own labels, annotations, addresses and UUID.
import { describe, expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import { configurationOf } from '../../src/config/configuration.ts';
import type { NamedConfig, NodeFacts } from '../../src/config/configuration.ts';
import { MachineIndex } from '../../src/config/machine-index.ts';
import { PlugIndex } from '../../src/config/plug-index.ts';
import { resolvePlan } from '../../src/config/resolve-plan.ts';
import type { Plan } from '../../src/domain/plan.ts';

const RACK = { 'example.com/rack': 'storage' };
const VICTIM: NodeFacts = node('victim', '192.0.2.1', 'aaaaaaaa-0000-4000-8000-000000000001');

function node(name: string, bmc: string, systemUUID: string): NodeFacts {
  return { name, labels: RACK, annotations: { bmc }, addresses: [{ type: 'InternalIP', address: `10.0.0.${name.length}` }], systemUUID };
}

function group(ip: string, more = ''): NamedConfig {
  return {
    name: 'fence-config-storage',
    data: {
      'config.properties': 'node_selector=example.com/rack=storage\npower_management=off',
      'fence-method-off': `agent_name=redfish\nsecret=bmc\naction=off\nip=${ip}\n${more}`,
    },
  };
}

function plans(config: NamedConfig, facts: readonly NodeFacts[]): Record<string, Plan> {
  const configuration = configurationOf([config], standardRegistry());
  const owners = new PlugIndex().update(configuration, new Map(facts.map((each) => [each.name, each])));
  const machines = new MachineIndex(facts);
  return Object.fromEntries(
    facts.map((each) => [each.name, resolvePlan({ node: each, configuration, secretKeys: () => ['username', 'password'], owners, machines })]),
  );
}

function devices(plan: Plan | undefined): string[] {
  return (plan?.powerManagement ?? []).flatMap(({ methods }) => methods.map(({ device }) => device));
}

function errors(plan: Plan | undefined): string[] {
  return (plan?.problems ?? []).filter(({ severity }) => severity === 'error').map(({ message }) => message);
}

describe('a node that says what another one is', () => {
  it('switches nothing by the device of another node, also where it has copied its UUID: both are told, and neither is fenced by it', () => {
    const thief = { ...node('thief', '192.0.2.1', VICTIM.systemUUID ?? ''), addresses: VICTIM.addresses };
    const { thief: stolen, victim } = plans(group('{annotation:bmc}'), [VICTIM, thief]);
    expect([errors(stolen), errors(victim)]).toEqual([
      [expect.stringContaining('Node victim has the same system UUID'), expect.stringContaining('for several nodes')],
      [expect.stringContaining('Node thief has the same system UUID'), expect.stringContaining('for several nodes')],
    ]);
  });

  it('is told to both where it has copied the UUID of another: nobody can say whose machine a device then shows, and none is switched', () => {
    const { thief: stolen, victim } = plans(group('{node}.bmc.example.com'), [VICTIM, node('thief', '192.0.2.1', VICTIM.systemUUID ?? '')]);
    expect([errors(stolen), errors(victim)]).toEqual([
      [expect.stringContaining('refused by every fence: Node victim has the same system UUID')],
      [expect.stringContaining('refused by every fence: Node thief has the same system UUID')],
    ]);
  });

  it('changes no device that is named by the name of the node, whatever else it says of itself', () => {
    const thief = {
      ...node('thief', '192.0.2.1', 'bbbbbbbb-0000-4000-8000-000000000002'),
      providerID: 'any://192.0.2.1',
      addresses: VICTIM.addresses,
    };
    const { thief: stolen, victim } = plans(group('{node}.bmc.example.com'), [VICTIM, thief]);
    expect([devices(stolen), devices(victim)]).toEqual([['thief.bmc.example.com:443'], ['victim.bmc.example.com:443']]);
    expect([errors(stolen), errors(victim)]).toEqual([[], []]);
  });

  it('names no device where its words are no address', () => {
    for (const bmc of ['192.0.2.9/redfish?x=', 'a b', '`reboot`', '-oProxyCommand=x', 'user@192.0.2.9', '../x', '192.0.2.9\nplug=2'])
      expect(errors(plans(group('{annotation:bmc}'), [{ ...VICTIM, annotations: { bmc } }])['victim']), bmc).not.toEqual([]);
  });

  it('leaves a group by its labels, and is then fenced by no power: it says so itself, and nobody else is concerned', () => {
    const left = { ...node('thief', '192.0.2.2', 'bbbbbbbb-0000-4000-8000-000000000002'), labels: {} };
    const { thief, victim } = plans(group('{node}.bmc.example.com'), [VICTIM, left]);
    expect([devices(thief), devices(victim)]).toEqual([[], ['victim.bmc.example.com:443']]);
  });
});
