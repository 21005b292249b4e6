import { describe, expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import type { Plan } from '../domain/plan.ts';
import { configurationOf } from './configuration.ts';
import { resolvePlan } from './resolve-plan.ts';

const BMC = 'agent_name=redfish\nip=192.0.2.7\nusername=root\npassword=x';

function planWith(properties: string): Plan {
  const data = {
    'config.properties': properties,
    'fence-method-off': `${BMC}\naction=off`,
    'fence-method-on': `${BMC}\naction=on`,
    'fence-method-down': 'agent_name=nova-service-down',
    'fence-method-up': 'agent_name=nova-service-up',
  };
  const configuration = configurationOf([{ name: 'fence-config-node-a', data }], standardRegistry());
  return resolvePlan({ node: { name: 'node-a', labels: {}, annotations: {}, addresses: [] }, configuration });
}

const errors = ({ problems }: Plan): string[] => problems.filter(({ severity }) => severity === 'error').map(({ message }) => message);

describe('a method that is right only while the machine is off', () => {
  it('stands beside the off, and its counterpart in recovery', () => {
    const resolved = planWith('power_management=off down on\nrecovery=up mark-schedulable');
    expect(errors(resolved)).toEqual([]);
    expect(resolved.problems.filter(({ message }) => message.includes('taken back'))).toEqual([]);
    expect(resolved.powerManagement[0]?.methods.map(({ name, whileOff }) => [name, whileOff])).toEqual([
      ['off', undefined],
      ['down', true],
      ['on', undefined],
    ]);
  });

  it.each([
    ['isolation=down\npower_management=off on', 'down is done only while the machine is proven off: put it into power_management'],
    ['power_management=off on\nrecovery=down mark-schedulable', 'down is done only while the machine is proven off: put it into power_management'],
    ['power_management=down', 'no method of this level switches it off: it would never run'],
    ['power_management=off up on', 'up may not stand in power_management: it belongs into recovery'],
  ])('is an error elsewhere: %s', (properties, words) => {
    expect(errors(planWith(properties))).toContainEqual(expect.stringContaining(words));
  });

  it('is told about where nothing takes it back', () => {
    const { problems } = planWith('power_management=off down on\nrecovery=mark-schedulable');
    expect(problems).toContainEqual(
      expect.objectContaining({
        severity: 'warning',
        message: 'down is taken back by nothing: without a method of agent nova-service-up in recovery it stays so when the node is back',
      }),
    );
  });
});
