import { describe, expect, it } from 'vitest';
import { standardRegistry } from '../../agents/registry.ts';
import type { Plan } from '../domain/plan.ts';
import { configurationOf } from './configuration.ts';
import type { NodeFacts } from './configuration.ts';
import { MachineIndex } from './machine-index.ts';
import { resolvePlan } from './resolve-plan.ts';

const NODE: NodeFacts = {
  name: 'a',
  systemUUID: '4c4c4544-0042-4810-8054-b4c04f573433',
  labels: {},
  annotations: {},
  addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
};
const REDFISH = 'agent_name=redfish\nip=192.0.2.7\nusername=u\npassword=p\naction=off';
const PDU = 'agent_name=pdu\nip=192.0.2.8\naction=off\nplug=3';

function plan(methods: Record<string, string>, config: string, node: NodeFacts = NODE): Plan {
  const bodies = Object.fromEntries(Object.entries(methods).map(([name, text]) => [`fence-method-${name}`, text]));
  const configMap = { name: 'fence-config-a', data: { 'config.properties': `node_name=a\n${config}`, ...bodies } };
  return resolvePlan({ node, configuration: configurationOf([configMap], standardRegistry()) });
}

const told = ({ problems }: Plan, wanted: 'error' | 'warning' = 'error'): string[] =>
  problems.filter(({ severity, message }) => severity === wanted && message.includes('refused by every fence')).map(({ message }) => message);

describe('what a fence would refuse before it asks a device is told before the node fails', () => {
  it('an outlet that shows nobody whose it is, where identity is demanded', () => {
    expect(told(plan({ off: PDU }, 'power_management=off'))).toEqual([
      expect.stringContaining('outlet_name is not given: write identity=unverified'),
    ]);
    expect(told(plan({ off: PDU }, 'power_management=off\nidentity=unverified'))).toEqual([]);
    expect(told(plan({ off: `${PDU}\noutlet_name={node}` }, 'power_management=off'))).toEqual([]);
  });

  it('a machine that two Nodes claim: what is read of it is true of both', () => {
    const other = { ...NODE, name: 'a.example' };
    const among = (...nodes: NodeFacts[]): string[] => {
      const bodies = { 'config.properties': 'power_management=off', 'fence-method-off': REDFISH };
      const configuration = configurationOf([{ name: 'fence-config-a', data: bodies }], standardRegistry());
      return told(resolvePlan({ node: NODE, configuration, machines: new MachineIndex(nodes) }));
    };
    expect(among(NODE)).toEqual([]);
    expect(among(NODE, { ...other, systemUUID: NODE.systemUUID?.replace('4c', '4d') })).toEqual([]);
    expect(among(NODE, other)).toEqual([
      `off would be refused by every fence: Node a.example has the same system UUID ${NODE.systemUUID ?? ''}, so that no read shows which of the two is switched: delete the Node that is left of an earlier name if they are one machine; else write identity=unverified into the method, after looking whose it is`,
    ]);
    const instance = (name: string): NodeFacts => ({ ...NODE, name, systemUUID: undefined, providerID: 'gce://project/zone-b/worker-7' });
    const planned = resolvePlan({
      node: instance('a'),
      configuration: configurationOf([], standardRegistry()),
      machines: new MachineIndex([instance('a'), instance('b')]),
    });
    expect(told(planned)).toEqual([expect.stringContaining('Node b has the same providerID gce://project/zone-b/worker-7')]);
  });

  describe('a way to a storage that shows nobody whose it is', () => {
    const PORT = 'agent_name=fc-switch\nip=192.0.2.9\nusername=u\npassword=p\naction=off\nplug=0/7';
    const SAN = 'storage=san\nstorage_match=class:san';
    const closing = (text: string, more = ''): string[] => told(plan({ close: text, off: REDFISH }, `isolation=close\npower_management=off${more}`));

    it.each([
      ['a port without port_alias', `${PORT}\n${SAN}`, 'port_alias is not given: write identity=unverified into the method'],
      ['a port whose port_alias names no node', `${PORT}\n${SAN}\nport_alias=rack-3`, 'port_alias does not'],
    ])('%s', (_what, text, words) => {
      expect(closing(text).join()).toContain(words);
      expect(closing(`${text}\nidentity=unverified`), 'written for it').toEqual([]);
      expect(closing(text, '\nidentity=unverified'), 'written for all').toEqual([]);
    });

    it('is none where its description has to name the node, and where it revokes nothing', () => {
      expect([closing(`${PORT}\n${SAN}\nport_alias={node}`), closing(`${PORT}\n${SAN}\nport_alias=rack-3 a`), closing(PORT)]).toEqual([[], [], []]);
    });

    it('is refused where it says verified, whatever the node says', () => {
      expect(closing(`${PORT}\n${SAN}\nidentity=verified`, '\nidentity=unverified').join()).toContain('port_alias is not given');
    });
  });

  it('an outlet beside a BMC, for itself alone: the BMC has to show its machine still', () => {
    const resolved = plan({ bmc: REDFISH, pdu: `${PDU}\nidentity=unverified` }, 'power_management=bmc\npower_management.2=pdu');
    expect([told(resolved), told(resolved, 'warning')]).toEqual([[], []]);
    expect(resolved.powerManagement.flatMap(({ methods }) => methods.map(({ name, identity }) => [name, identity]))).toEqual([
      ['bmc', undefined],
      ['pdu', 'unverified'],
    ]);
    expect(resolved.identity).toBe('verified');
  });

  it('an identity that is neither word, and one that means nothing', () => {
    const messages = (text: string, wanted: string): string[] =>
      plan({ off: text }, 'power_management=off').problems.flatMap(({ severity, message }) => (severity === wanted ? [message] : []));
    expect(messages(`${REDFISH}\nidentity=yes`, 'error').join()).toContain('identity=yes must be verified or unverified');
    const closing = 'agent_name=fc-switch\nip=192.0.2.9\nusername=u\npassword=p\naction=off\nplug=0/7\nidentity=unverified';
    expect(
      plan({ close: closing }, 'isolation=close')
        .problems.map(({ message }) => message)
        .join(),
    ).toContain('identity of close means nothing');
  });

  it.each([
    ['a PDU without a plug', { off: PDU.replace('plug=3', '') }, 'plug is missing'],
    ['a BMC with a plug', { off: `${REDFISH.replace('redfish', 'ipmi')}\nplug=2` }, 'a BMC switches one machine'],
    ['a Job', { off: 'agent_name=job\naction=off\npod_template=t/k' }, 'does not tell whose machine it switches'],
    ['an outlet by Redfish', { off: `${REDFISH}\nresource=outlet\nplug=1` }, 'whose machine hangs on it'],
  ])('%s', (_what, methods, words) => {
    expect(told(plan(methods, 'power_management=off')).join()).toContain(words);
  });

  it('a port that no such switch has', () => {
    const port = 'agent_name=fc-switch\nip=192.0.2.9\nusername=u\npassword=p\naction=off\nstorage=s\nplug=eth0';
    const resolved = plan({ close: port, off: REDFISH }, 'isolation=close\npower_management=off');
    expect(told(resolved)).toEqual([expect.stringContaining('is no port of a Brocade switch')]);
    expect(resolved.problems.filter(({ step, severity }) => severity === 'error' && step === 'power-management')).toEqual([]);
  });

  it('a Node without a system UUID behind a BMC; unknown where no Node is known', () => {
    const under = (systemUUID: string | undefined): string[] => told(plan({ off: REDFISH }, 'power_management=off', { ...NODE, systemUUID }));
    expect(under('')).toEqual([expect.stringContaining('the Node tells no system UUID')]);
    expect(under('00000000-0000-0000-0000-000000000000')).toEqual([expect.stringContaining('names no machine')]);
    expect([under(NODE.systemUUID), under(undefined)]).toEqual([[], []]);
  });

  it('by a warning only where another level is left: it goes on being fenced by that', () => {
    const resolved = plan({ bmc: REDFISH, pdu: PDU }, 'power_management=bmc\npower_management.2=pdu');
    expect([told(resolved), told(resolved, 'warning')]).toEqual([[], [expect.stringContaining('level 2 would be refused by every fence, by pdu')]]);
  });
});

describe('what matters only after the off', () => {
  it.each([
    'healthy_delay=5s',
    'healthy_delay=soon',
    'probation=1s',
    'ready_timeout=x',
    'release-timeout=never',
    'max_restarts=many',
    'history_ttl=-1s',
  ])('keeps nobody from being fenced: %s', (line) => {
    const resolved = plan({ off: REDFISH }, `power_management=off\n${line}`);
    expect(resolved.problems.filter(({ severity }) => severity === 'error')).toEqual([]);
    expect(resolved.problems.filter(({ message }) => message.endsWith('the default applies'))).toHaveLength(1);
    expect(resolved.timing.healthyDelayMs).toBeGreaterThanOrEqual(20_000);
    expect(resolved.timing.probationMs).toBeGreaterThan(resolved.timing.settleMs);
  });

  it('is not the power: there an error stays one', () => {
    const resolved = plan({ off: REDFISH }, 'power_management=off\npower-timeout=soon');
    expect(resolved.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message)).toEqual([
      expect.stringContaining('power_timeout=soon must be a duration'),
    ]);
  });
});

it('dashes and underscores are one: power-timeout is power_timeout', () => {
  const resolved = plan({ off: REDFISH.replace('agent_name', 'agent-name') }, 'power-management=off\npower-timeout=95s');
  expect(resolved.timing.powerTimeoutMs).toBe(95_000);
  expect(resolved.powerManagement).toHaveLength(1);
  expect(resolved.problems.filter(({ message }) => message.includes('unknown key'))).toEqual([]);
});
