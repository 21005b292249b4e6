import { expect, it } from 'vitest';
import { standardRegistry } from '../../../agents/registry.ts';
import type { BareMetalHost } from '../../ports/metal3.ts';
import type { Node } from '../../ports/objects.ts';
import { validate } from './validation.ts';

const REDFISH = { agent_name: 'redfish', ip: '10.0.0.1', action: 'reboot' };

function host(address: string, more: Partial<BareMetalHost> = {}): BareMetalHost {
  return {
    metadata: { name: 'host-a', namespace: 'metal3' },
    spec: { online: true, bmc: { address } },
    status: { provisioning: { state: 'provisioned' } },
    ...more,
  };
}

/** What `nodefence validate` says about hosts, of node a with this method and of this host. */
function told(method: Readonly<Record<string, string>>, operated: BareMetalHost): string[] {
  const data = {
    'config.properties': 'power_management=power\nrecovery=uncordon\n',
    'fence-method-power': Object.entries({ username: 'fence', secret: 'bmc', ...method })
      .map((pair) => `${pair.join('=')}\n`)
      .join(''),
  };
  const node: Node = { metadata: { name: 'a' }, spec: {}, status: {} };
  const input = {
    source: 'a test',
    configMaps: [{ name: 'fence-config-a', data, labels: undefined }],
    secrets: new Map([['bmc', { password: 'x' }]]),
    nodes: [node],
    recordedUUIDs: new Map<string, string>(),
    problems: [],
    operated: [operated],
    notes: [],
    locate: () => undefined,
  };
  const { problems } = validate(input, standardRegistry(), []).report;
  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
  return problems.filter(({ message }) => message.includes('BareMetalHost')).map(({ where, message }) => `${where}: ${message}`);
}

it('warns of a method that switches off behind a baremetal-operator, with what to write instead', () => {
  expect(told(REDFISH, host('redfish-virtualmedia://10.0.0.1/redfish/v1/Systems/1'))).toEqual([
    'Node a: method power switches off by redfish at 10.0.0.1:443 what BareMetalHost metal3/host-a keeps on: its operator switches it on again, and nothing is ever released. Use agent_name=metal3 with plug=metal3/host-a',
  ]);
});

it.each([
  ['the same BMC by its other protocol', { ...REDFISH, agent_name: 'ipmi' }, 'redfish://10.0.0.1/redfish/v1/Systems/1', true],
  ['an address alone, which is IPMI', { ...REDFISH, agent_name: 'ipmi' }, '10.0.0.1', true],
  ['an address of IPv6', { ...REDFISH, ip: '2001:db8::1' }, 'redfish+https://[2001:db8::1]/redfish/v1/Systems/1', true],
  ['a port of its own', { ...REDFISH, ipport: '8000', ssl: '0' }, 'redfish+http://10.0.0.1:8000/redfish/v1/Systems/1', true],
  ['another port: emulated BMCs behind one address', { ...REDFISH, ipport: '8001', ssl: '0' }, 'redfish+http://10.0.0.1:8000/x', false],
  ['another system of the same service', { ...REDFISH, plug: '2' }, 'redfish://10.0.0.1/redfish/v1/Systems/1', false],
  ['another BMC', REDFISH, 'redfish://10.0.0.11/redfish/v1/Systems/1', false],
  ['an address that cannot be read', REDFISH, 'redfish://', false],
  ['an off by the operator itself', { agent_name: 'metal3', plug: 'metal3/host-a', action: 'reboot' }, 'redfish://10.0.0.1/', false],
])('knows the machine by its BMC: %s', (_what, method, address, isTold) => {
  expect(told(method, host(address)).length === 1).toBe(isTold);
});

it.each<[string, Partial<BareMetalHost>]>([
  ['is detached', { metadata: { name: 'host-a', namespace: 'metal3', annotations: { 'baremetalhost.metal3.io/detached': '' } } }],
  ['is only inspected', { status: { provisioning: { state: 'available' } } }],
])('says nothing of a host that the operator does not switch on: it %s', (_what, more) => {
  expect(told(REDFISH, host('redfish://10.0.0.1/', more))).toEqual([]);
});
