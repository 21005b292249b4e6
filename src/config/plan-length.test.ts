import { expect, it } from 'vitest';
import type { Plan } from '../domain/plan.ts';
import { configurationOf } from './configuration.ts';
import { resolvePlan } from './resolve-plan.ts';
import { fakeRegistry } from './testing/fake-agents.ts';

/** So many power supplies, each behind a BMC of its own, and a template with a path that is that long. */
function planOf(supplies: number, length: number): Plan {
  const names = Array.from({ length: supplies }, (_, index) => `off-${index}`);
  const methods = names.map((name, index): [string, string] => [
    `fence-method-${name}`,
    `template=fence-method-template-bmc\nip=192.0.2.${index + 1}\naction=off`,
  ]);
  const own = { 'config.properties': `power_management=${names.join(' ')}`, ...Object.fromEntries(methods) };
  const template = { 'template.properties': `agent_name=redfish\nusername=u\npassword=p\nidentity=unverified\nsystems_uri=${'x'.repeat(length)}` };
  const node = { name: 'a', labels: {}, annotations: {}, addresses: [] };
  const configMaps = [
    { name: 'fence-config-a', data: own },
    { name: 'fence-method-template-bmc', data: template },
  ];
  return resolvePlan({ node, configuration: configurationOf(configMaps, fakeRegistry()) });
}

it('a plan that no NodeFence could hold is an error, and nothing of it is done: a small template makes it of few methods', () => {
  const [fitting, tooLong] = [planOf(16, 16_000), planOf(17, 16_000)];
  const said = ({ problems }: Plan): string[] => problems.filter(({ message }) => message.includes('characters long')).map(({ message }) => message);
  expect([said(fitting), fitting.powerManagement[0]?.methods.length]).toEqual([[], 16]);
  expect(said(tooLong)).toEqual([
    expect.stringMatching(/^the parameters of all methods of this node are \d+ characters long, 262144 at most: its fence could not be written$/),
  ]);
  expect([tooLong.isolation, tooLong.powerManagement, tooLong.recovery]).toEqual([[], [], []]);
  expect(JSON.stringify(fitting).length).toBeLessThan(600_000);
});
