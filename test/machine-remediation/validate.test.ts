import { afterEach, expect, it } from 'vitest';
import { machineRemediationWarnings } from '../../src/cli/validate/machine-remediation.ts';
import { HOLD } from '../../src/controllers/machine-remediation/names.ts';
import { HARD } from '../../src/controllers/shared/baremetal-host/reboot.ts';
import { HOST_MACHINES, hostMachineName, hostName, HOSTS_NAMESPACE } from '../../src/testbed/operators/host-fleet.ts';
import { BARE_METAL_HOSTS } from '../../src/ports/metal3.ts';
import { ShellWorld } from './shell-world.ts';

const PLACE = { namespace: HOSTS_NAMESPACE };
let world: ShellWorld;

afterEach(async () => {
  await world.end();
});

async function warnings(): Promise<string[]> {
  const found = await machineRemediationWarnings({ transport: world.transport, cluster: world.operator, clock: world.clock });
  return found.map(({ severity, where, message }) => `${severity} ${where} ${message}`);
}

it('validate tells of hosts that cannot be remediated, of one that is left held, and of a Machine that stands on none', async () => {
  world = await ShellWorld.create({ nodes: ['n1', 'n2', 'n3'] });
  expect(await warnings()).toEqual([]);
  await world.operator.mergePatch(BARE_METAL_HOSTS, hostName('n1'), { spec: { disablePowerOff: true } }, PLACE);
  await world.operator.remove(HOST_MACHINES, hostMachineName('n2'), PLACE);
  await world.annotate(BARE_METAL_HOSTS, hostName('n2'), { [HOLD]: HARD });
  await world.ask('n3');
  await world.operator.mergePatch(BARE_METAL_HOSTS, hostName('n3'), { spec: { consumerRef: null } }, PLACE);
  expect(await warnings()).toEqual([
    'warning BareMetalHost metal3/host-n1 its Machine cannot be remediated: spec.disablePowerOff=true: the operator never switches this host off',
    `warning BareMetalHost metal3/host-n2 is held off by ${HOLD}, and no Machine uses it: is a controller running?`,
    'warning Machine metal3/machine-n3 is requested by host.metal3.io/external-remediation, and has no BareMetalHost',
  ]);
});

it('validate says nothing of Machines where their remediation is not installed', async () => {
  world = await ShellWorld.create({ folders: [] });
  await world.operator.mergePatch(BARE_METAL_HOSTS, hostName('n1'), { spec: { disablePowerOff: true } }, PLACE);
  expect(await warnings()).toEqual([]);
});
