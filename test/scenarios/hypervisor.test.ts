import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../src/runtime/system-random.ts';
import { MemoryMachine } from '../../src/testbed/devices/bmc/power-backend.ts';
import { PROJECT, USER } from '../../src/testbed/devices/cloud/keystone.ts';
import { HYPERVISOR } from '../../src/testbed/devices/cloud/nova-services.ts';
import { openstackCloud, openstackOf, type OpenStackService } from '../../src/testbed/devices/cloud/openstack.ts';
import { properties } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { journal } from './operator.ts';
import { scenario } from './scenario.ts';

/** A cloud whose hypervisors are nodes: two servers stand on that of node `a`. */
async function startCloud(): Promise<OpenStackService> {
  const machines = ['vm-1', 'vm-2'].map((node, index) => ({
    node,
    uuid: randomUUID(),
    address: `10.8.0.${index + 1}`,
    power: new MemoryMachine('on'),
  }));
  const service = openstackOf(await openstackCloud.start({ host: '127.0.0.1', machines, clock: new SystemClock(), random: new SystemRandom() }));
  Object.assign(service.oddities, { roles: ['admin'] });
  return service;
}

/** What an operator writes beside the plan of the BMC. */
function hypervisors(files: Configuration, service: OpenStackService): void {
  const name = 'fence-config-a';
  const access = { auth_url: `${service.url}/identity`, project_name: PROJECT, plug: HYPERVISOR, secret: 'nova' };
  files.writeSecret('nova', { username: USER, password: service.keystone.password });
  files.edit(name, 'config.properties', (text) =>
    text.replace('redfish-off redfish-on', 'redfish-off nova-down redfish-on').replace('recovery=', 'recovery=nova-up '),
  );
  files.write(name, 'fence-method-nova-down', properties({ agent_name: 'nova-service-down', wait: '20', ...access }));
  files.write(name, 'fence-method-nova-up', properties({ agent_name: 'nova-service-up', ...access }));
}

const stateOf = (service: OpenStackService): unknown => service.nova.services.services[0];

describe.concurrent('a node that is a hypervisor of OpenStack', () => {
  const clouds: OpenStackService[] = [];
  beforeAll(async () => {
    clouds.push(await startCloud(), await startCloud());
  });
  afterAll(async () => {
    await Promise.all(clouds.map((service) => service.close()));
  });
  const cloud = (index: number): OpenStackService => {
    const service = clouds[index];
    if (service === undefined) throw new Error('the cloud was not started');
    return service;
  };

  scenario(
    'has its servers evacuated once its power is proven off, and is let up when it is back',
    { wrote: (files) => hypervisors(files, cloud(0)) },
    async ({ world, operator }) => {
      world.machine('a').panic();
      const status = await operator.seesRecovery('a');
      expect(journal(status)).toEqual([
        'mark-unschedulable run succeeded',
        'redfish-off off succeeded',
        'release release succeeded',
        'release-end release-end succeeded',
        'nova-down run succeeded',
        'redfish-on on succeeded',
        'nova-up run succeeded',
        'mark-schedulable run succeeded',
      ]);
      const down = status.journal.find(({ method }) => method === 'nova-down');
      expect(down?.message).toBe(`nova-compute of ${HYPERVISOR} is forced down; 2 servers have left it`);
      expect(stateOf(cloud(0))).toMatchObject({ forced_down: false, status: 'enabled' });
    },
  );

  scenario(
    'whose power-off is not proven has no server evacuated, whatever Nova believes',
    { bmcs: { a: { faults: { isSilent: true } } }, wrote: (files) => hypervisors(files, cloud(1)) },
    async ({ world, operator }) => {
      world.machine('a').panic();
      const status = await operator.sees('a', 'an off that failed', ({ journal: entries }) =>
        entries.some(({ action, result }) => action === 'off' && result !== undefined),
      );
      expect(journal(status)).not.toContain('nova-down run succeeded');
      expect(cloud(1).requests.filter((name) => name.startsWith('P') && name !== 'POST token')).toEqual([]);
      expect(stateOf(cloud(1))).toMatchObject({ forced_down: false });
    },
  );
});
