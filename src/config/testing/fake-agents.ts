import type { Agent, AgentDefinition, AgentRegistry, ParameterDescription } from '../../ports/agents.ts';

function agent(
  definition: Partial<AgentDefinition> & Pick<AgentDefinition, 'name' | 'kind'>,
  parameters: readonly ParameterDescription[],
): AgentDefinition {
  return {
    aliases: [],
    actions: definition.kind === 'action' ? ['run'] : ['on', 'off', 'reboot'],
    deviceMaxLatencyMs: 30_000,
    deviceKey: ({ ip = '' }) => ip,
    describe: () => parameters,
    check: (given, withSecrets) =>
      parameters
        .filter(({ name, required, secret }) => required && (withSecrets || !secret) && (given[name] ?? '') === '')
        .map(({ name }) => ({ parameter: name, message: 'is missing' })),
    create: () => Promise.reject<Agent>(new Error('agents of this table are never created')),
    ...definition,
  };
}

const BMC: readonly ParameterDescription[] = [
  { name: 'ip', required: true, secret: false, description: 'Address.', aliases: ['host'] },
  { name: 'username', required: true, secret: true, description: 'Login.' },
  { name: 'password', required: true, secret: true, description: 'Password.' },
  { name: 'ssl_insecure', required: false, secret: false, description: 'Trust anybody.' },
  { name: 'systems_uri', required: false, secret: false, description: 'Path of the system.' },
];
const SWITCH: readonly ParameterDescription[] = [{ name: 'ip', required: true, secret: false, description: 'Address.' }];

const DEFINITIONS: readonly AgentDefinition[] = [
  agent({ name: 'redfish', kind: 'power', aliases: ['fence-redfish'] }, BMC),
  agent({ name: 'pdu', kind: 'power', aliases: ['fence-apc-snmp', 'fence-eaton-snmp'] }, [
    ...BMC.slice(0, 1),
    { name: 'community', required: false, secret: true, description: 'SNMP community.', aliases: ['snmp_community'] },
  ]),
  agent({ name: 'gce', kind: 'power', aliases: ['fence-gce'], deviceKey: ({ zone = '' }) => `gce/${zone}` }, [
    { name: 'zone', required: false, secret: false, description: 'Zone.' },
  ]),
  agent({ name: 'fc-switch', kind: 'fabric', aliases: ['fence-brocade', 'brocade'], deviceMaxLatencyMs: 5_000 }, SWITCH),
  agent({ name: 'cordon', kind: 'action', aliases: ['mark-unschedulable'], deviceMaxLatencyMs: 0, deviceKey: () => '' }, []),
  agent({ name: 'uncordon', kind: 'action', aliases: ['mark-schedulable'], deviceMaxLatencyMs: 0, deviceKey: () => '' }, []),
];

/** A registry whose agents describe themselves and do nothing. */
export function fakeRegistry(): AgentRegistry {
  const spelling = (name: string): string => name.toLowerCase().replaceAll('_', '-');
  return {
    find: (name) => DEFINITIONS.find((definition) => [definition.name, ...definition.aliases].includes(spelling(name))),
    names: () => DEFINITIONS.map(({ name }) => name),
  };
}
