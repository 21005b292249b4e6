import { createSocket, type Socket } from 'node:dgram';
import { createServer, type Server } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { standardRegistry } from '../../agents/registry.ts';
import { configurationOf } from '../../src/config/configuration.ts';
import { PlanCache } from '../../src/config/plan-cache.ts';
import { PlugIndex } from '../../src/config/plug-index.ts';
import { DeviceAddresses, parseDeviceAddresses } from '../../src/domain/addresses/device-addresses.ts';
import type { AgentContext, Parameters, Target } from '../../src/ports/agents.ts';
import { AgentError } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { environmentOf } from '../../src/testbed/devices/cloud/testing.ts';

const registry = standardRegistry();
const LOGIN = { username: 'root', password: 'planted' };
/** No Node has an address that could be told apart from the host's. */
const NO_OBJECTS = {
  get: () => Promise.resolve(undefined),
  list: () => Promise.resolve({ items: [], resourceVersion: '1' }),
} as unknown as AgentContext['cluster'];
const KEY = { ...LOGIN, known_hosts: 'insecure' };
/** Every agent that calls an address which a configuration names, once for each way that it has. */
const WAYS: readonly { agent: string; way?: string; parameters: (host: string, port: string) => Parameters; plug?: string }[] = [
  { agent: 'redfish', parameters: (ip, ipport) => ({ ip, ipport, ...LOGIN }) },
  { agent: 'redfish', way: 'redfish without TLS', parameters: (ip, ipport) => ({ ip, ipport, ssl: 'no', ...LOGIN }) },
  { agent: 'ipmi', way: 'ipmi by itself', parameters: (ip, ipport) => ({ ip, ipport, transport: 'native', ...LOGIN }) },
  { agent: 'ipmi', way: 'ipmi by ipmitool', parameters: (ip, ipport) => ({ ip, ipport, transport: 'ipmitool', ...LOGIN }) },
  { agent: 'pdu', parameters: (ip, ipport) => ({ ip, ipport, community: 'planted' }), plug: '1' },
  { agent: 'ethernet-switch', parameters: (ip, ipport) => ({ ip, ipport, community: 'planted' }), plug: '1' },
  {
    agent: 'ethernet-switch',
    way: 'ethernet-switch by SSH',
    parameters: (ip, ipport) => ({ ip, ipport, transport: 'ssh', dialect: 'eos', ...KEY }),
    plug: 'Ethernet1',
  },
  { agent: 'fc-switch', way: 'fc-switch by SNMP', parameters: (ip, ipport) => ({ ip, ipport, transport: 'snmp', community: 'planted' }), plug: '1' },
  { agent: 'fc-switch', way: 'fc-switch by REST', parameters: (ip, ipport) => ({ ip, ipport, transport: 'rest', ...LOGIN }), plug: '0/1' },
  { agent: 'ssh', parameters: (ip, ipport) => ({ ip, ipport, command: 'true', confirm_command: 'true', ...KEY }) },
  {
    agent: 'storage',
    parameters: (ip, ipport) => ({
      ip,
      ipport,
      close_command: 'a',
      open_command: 'b',
      state_command: 'c',
      closed_match: 'c',
      open_match: 'o',
      ...KEY,
    }),
  },
  { agent: 'scsi', parameters: (ip, ipport) => ({ ip, ipport, devices: '/dev/sda', key: '1', ...KEY }) },
  { agent: 'ceph', parameters: (ip, ipport) => ({ ip, ipport, via: 'exec', addresses: '10.0.0.1', ...KEY }) },
  { agent: 'proxmox', parameters: (ip, ipport) => ({ ip, ipport, username: 'root@pam', password: 'planted' }), plug: '100' },
  { agent: 'vsphere', parameters: (ip, ipport) => ({ ip, ipport, ...LOGIN }), plug: 'vm' },
  { agent: 'ovirt', parameters: (ip, ipport) => ({ ip, ipport, username: 'admin@internal', password: 'planted' }), plug: 'vm' },
  {
    agent: 'openstack',
    parameters: (ip, port) => ({ auth_url: `https://${ip}:${port}/v3`, project_name: 'p', user_domain_name: 'd', ...LOGIN }),
    plug: '11111111-1111-1111-1111-111111111111',
  },
  { agent: 'hetzner', parameters: (ip, port) => ({ endpoint: `https://${ip}:${port}/v1`, token: 'planted' }), plug: '1' },
];

describe('A configuration that names the controller’s own machine as a device', () => {
  let tcp: Server;
  let udp: Socket;
  let port = '';
  let calls = 0;

  beforeAll(async () => {
    tcp = createServer((socket) => {
      calls += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const bound = tcp.address();
    port = String(bound === null || typeof bound === 'string' ? 0 : bound.port);
    udp = createSocket('udp4', () => (calls += 1));
    await new Promise<void>((resolve) => udp.bind(Number(port), '127.0.0.1', resolve));
  });
  afterAll(() => {
    tcp.close();
    udp.close();
  });

  async function failureOf(agentName: string, parameters: Parameters, plug: string, addresses: DeviceAddresses): Promise<AgentError> {
    const definition = registry.find(agentName);
    if (definition === undefined) throw new Error(`no agent ${agentName}`);
    expect(definition.check(parameters, true)).toEqual([]);
    const context = { clock: new SystemClock(), host: environmentOf({}), addresses, cluster: NO_OBJECTS, namespace: 'ns' };
    const agent = await definition.create(context);
    const target: Target = {
      plug,
      device: definition.deviceKey(parameters),
      parameters,
      identity: { node: 'a', systemUUID: '4c4c4544-0042-4810-8054-b4c04f573433' },
      signal: new AbortController().signal,
      deadlineMs: 5_000,
      beforeSend: () => undefined,
    };
    try {
      await (agent.kind === 'action' ? agent.run(target) : agent.read(target));
    } catch (error) {
      if (error instanceof AgentError) return error;
      throw error;
    } finally {
      await agent.close?.();
    }
    throw new Error(`${agentName} read something`);
  }

  const rows = WAYS.flatMap(({ agent, way = agent, ...each }) => ['127.0.0.1', 'localhost'].map((host) => [way, host, { agent, ...each }] as const));
  it.each(rows)('is not called by %s at %s', async (_way, host, { agent, parameters, plug = '' }) => {
    calls = 0;
    const error = await failureOf(agent, parameters(host, port), plug, new DeviceAddresses());
    expect(error.message).toContain('the machine of the controller itself');
    expect(error.kind).toBe('Misconfigured');
    expect(calls).toBe(0);
  });

  it('is told in the plan of the controller before anything fails', () => {
    const data = { 'config.properties': 'node_name=a\npower_management=off', 'fence-method-off': 'agent_name=redfish\naction=off\nip=[::1]' };
    const configuration = configurationOf([{ name: 'fence-config-a', data }], registry, { addresses: new DeviceAddresses() });
    const sources = { configuration, owners: new PlugIndex().update(configuration), machines: undefined, secretKeys: undefined };
    const plan = new PlanCache().planFor({ name: 'a', labels: {}, annotations: {}, addresses: [] }, sources);
    expect(plan.problems.map(({ message }) => message)).toContainEqual(expect.stringContaining('::1 is the machine of the controller itself'));
  });

  it('is called where --device-addresses names it', async () => {
    calls = 0;
    const addresses = parseDeviceAddresses('127.0.0.0/8');
    if (typeof addresses === 'string') throw new Error(addresses);
    const error = await failureOf('redfish', { ip: '127.0.0.1', ipport: port, ssl: 'no', ...LOGIN }, '', addresses);
    expect(error.kind).toBe('Unreachable');
    expect(calls).toBeGreaterThan(0);
  });
});
