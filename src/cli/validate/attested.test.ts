import { describe, expect, it } from 'vitest';
import { standardRegistry } from '../../../agents/registry.ts';
import { ATTESTATION } from '../../domain/node-daemon/attestation.ts';
import type { Lease, Node } from '../../ports/objects.ts';
import { validate } from './validation.ts';

const ID = '0a1b2c3d-0000-4000-8000-00000000000f';
const SCSI = 'agent_name=scsi\naction=off\nip=192.0.2.50\nsecret=bmc\ndevices=/dev/mapper/a\nkey=0xA1\nstorage=san\nstorage_match=class:san\n';
const WATCHDOG = { state: 'armed', kind: 'hardware', action: 'reset', isPausable: false, timeoutMs: 10_000 };
const TIMES = { grantMs: 5_000, isolationTimeoutMs: 40_000, podStopMaxMs: 30_000, resetTimeMs: 10_000 };
const slot = (number: number, id = ID): object => ({ storageLease: { id, slot: number, intervalMs: 5_000 } });
const unfence = (key: string, ...devices: string[]): object => ({ unfence: { state: 'waiting', key, devices } });

interface Case {
  /** What each daemon attests; a node without one has none. */
  daemons: Readonly<Record<string, object>>;
  /** Of node a. */
  method?: { step: 'isolation' | 'power_management' | 'recovery'; text: string };
  policy?: string;
}

/** Warnings of what daemons attest, as `nodefence validate` gives them for nodes a and b. */
function told({ daemons, method, policy }: Case): string[] {
  const named = (step: string): string => (method?.step === step ? `${step}=it\n` : '');
  const text = `${named('isolation')}${named('power_management')}recovery=${method?.step === 'recovery' ? 'it,' : ''}uncordon\n`;
  const config = { 'config.properties': text, ...(method === undefined ? {} : { 'fence-method-it': method.text }) };
  const attested = Object.entries(daemons).map(([name, said]): Lease => {
    const whole = JSON.stringify({ bootID: 'b', systemUUID: 'u', peers: [], ...said });
    return { metadata: { name: `nodefence-node-${name}`, annotations: { [ATTESTATION]: whole } }, spec: {} };
  });
  const input = {
    source: 'a test',
    configMaps: [
      { name: 'fence-config-a', data: config, labels: undefined },
      ...(policy === undefined ? [] : [{ name: 'fence-policy-storage-reachable', data: { 'config.properties': policy }, labels: undefined }]),
    ],
    secrets: new Map([
      [
        'bmc',
        {
          username: 'fence',
          password: 'x',
          known_hosts: '192.0.2.50 ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBxvvNGLKAcCsYBQWkPTlkUnKc7oPGKA5jIlPXcYnCTu',
        },
      ],
    ]),
    nodes: ['a', 'b'].map((name): Node => ({ metadata: { name }, spec: {}, status: {} })),
    recordedUUIDs: new Map<string, string>(),
    problems: [],
    attested,
    notes: [],
    locate: () => undefined,
  };
  const without = new Set(validate({ ...input, attested: undefined as never }, standardRegistry(), []).report.problems.map(({ message }) => message));
  const { problems } = validate(input, standardRegistry(), []).report;
  expect(
    problems.filter(
      ({ severity, nodes, where }) => severity === 'error' && method?.step !== 'power_management' && (nodes.includes('a') || where.includes('-a')),
    ),
  ).toEqual([]);
  return problems.filter(({ message }) => !without.has(message)).map(({ severity, where, message }) => `${severity} ${where}: ${message}`);
}

describe('what is configured, held against what daemons attest', () => {
  const scsi = { step: 'isolation' as const, text: SCSI };
  it.each<[string, Case, RegExp[]]>([
    ['the key that a fence takes away is the one that is put back', { daemons: { a: unfence('a1', '/dev/mapper/a') }, method: scsi }, []],
    [
      'another key is put back than is taken away',
      { daemons: { a: unfence('a2', '/dev/mapper/a') }, method: scsi },
      [/^warning Node a: method .*it.* takes away key a1, and the daemon puts back a2/],
    ],
    [
      'fewer devices are put back',
      { daemons: { a: unfence('a1', '/dev/mapper/a', '/dev/mapper/b') }, method: scsi },
      [/shuts the node out of 1 devices, and the daemon puts it back on 2/],
    ],
    ['a node that puts nothing back', { daemons: { a: {} }, method: scsi }, []],
    ['two nodes with one key', { daemons: { a: unfence('a1', '/dev/a'), b: unfence('a1', '/dev/a') } }, [/nodes a, b register with one key, a1/]],
    ['each node with its own key', { daemons: { a: unfence('a1', '/dev/a'), b: unfence('a2', '/dev/a') } }, []],
    [
      'a watchdog that proves something',
      { daemons: { a: { watchdog: WATCHDOG, selfFence: TIMES } }, method: { step: 'power_management', text: 'agent_name=watchdog\n' } },
      [],
    ],
    [
      'a watchdog of a node without a daemon',
      { daemons: { b: {} }, method: { step: 'power_management', text: 'agent_name=watchdog\n' } },
      [/it proves nothing: no node daemon attests this node/],
    ],
    [
      'no watchdog',
      { daemons: { a: { selfFence: TIMES } }, method: { step: 'power_management', text: 'agent_name=watchdog\n' } },
      [/the node attests no watchdog/],
    ],
    [
      'a software watchdog',
      {
        daemons: { a: { watchdog: { ...WATCHDOG, kind: 'soft' }, selfFence: TIMES } },
        method: { step: 'power_management', text: 'agent_name=watchdog\n' },
      },
      [/the watchdog of the node is soft/],
    ],
    [
      'a watchdog that stands still with its machine',
      {
        daemons: { a: { watchdog: { ...WATCHDOG, isPausable: true }, selfFence: TIMES } },
        method: { step: 'power_management', text: 'agent_name=watchdog\n' },
      },
      [/can be paused/],
    ],
    [
      'a node that does not fence itself',
      { daemons: { a: { watchdog: WATCHDOG } }, method: { step: 'power_management', text: 'agent_name=watchdog\n' } },
      [/does not fence itself; start its daemon with --self-fence/],
    ],
    [
      'unfencing by a daemon that does none',
      { daemons: { a: {} }, method: { step: 'recovery', text: 'agent_name=unfence\n' } },
      [/the daemon puts no registrations back/],
    ],
    [
      'an order to a node without a daemon',
      { daemons: {}, method: { step: 'isolation', text: 'agent_name=node-daemon\naction=restart-kubelet\n' } },
      [/its order is heard by nobody/],
    ],
    ['slots of one lease', { daemons: { a: slot(1), b: slot(2) } }, []],
    ['one slot of two nodes', { daemons: { a: slot(1), b: slot(1) } }, [/nodes a, b attest slot 1 of one storage lease/]],
    ['the same slot of two leases', { daemons: { a: slot(1), b: slot(1, ID.replace('f', 'e')), c: slot(2), d: slot(2, ID.replace('f', 'e')) } }, []],
    ['a lease that one node alone has', { daemons: { a: slot(1), b: {} } }, [/^warning Lease nodefence-node-a: only node a attests storage lease/]],
    [
      'lease-alive where nobody has a slot',
      { daemons: { a: {} }, policy: 'when=lease-alive\n' },
      [/^warning ConfigMap fence-policy-storage-reachable.*: when=lease-alive holds nothing there: no node attests a slot/],
    ],
    [
      'lease-alive where one has none',
      { daemons: { a: slot(1), b: slot(2), c: {} }, policy: 'when=lease-alive\n' },
      [/1 of 3 nodes with a daemon attest nothing of a slot on shared storage \(c\): .*a lease without a free slot/],
    ],
    ['lease-alive where all have one', { daemons: { a: slot(1), b: slot(2) }, policy: 'when=lease-alive\n' }, []],
    [
      'storage of which nobody says anything',
      { daemons: { a: { storage: 'unknown' } }, policy: 'when=storage-unreachable\n' },
      [/when=storage-unreachable holds nothing there: no node attests its storage/],
    ],
    ['storage that is attested', { daemons: { a: { storage: 'lost' } }, policy: 'when=storage-unreachable\n' }, []],
    ['a policy that is off', { daemons: { a: {} }, policy: 'when=lease-alive\nenabled=no\n' }, []],
  ])('%s', (_what, given, expected) => {
    const found = told(given);
    expect(found).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(found[index]).toMatch(pattern);
  });
});
