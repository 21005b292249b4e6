import { ATTESTATION, GRANTS_ENDED } from '../../src/domain/node-daemon/attestation.ts';
import { WatchdogAgent } from '../../agents/watchdog/agent.ts';
import { watchdog } from '../../agents/watchdog/definition.ts';
import { ObjectWorld } from '../../src/testbed/objects/object-world.ts';
import type { Lease, Node } from '../../src/ports/objects.ts';
import { LEASES, NODE_LEASE_NAMESPACE, NODES } from '../../src/ports/resources.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { testFaultProfile } from './harness.ts';
import { API_WORDS, everyMoment, faultOf } from './object-faults.ts';
import type { Behaviour, DeviceFixture } from './fault-profile.ts';
import { reach } from '../reach.ts';

const UUID = '1e2d3c4b-0000-4000-8000-00000000abcd';
const NAMESPACE = 'nodefence-system';
const clock = new SystemClock();

/** When the machine's watchdog bites, and what its daemon attests: the wait of the agent is a little more than three seconds longer. */
const BITES_MS = 2_000;
const SLOW_BITES_MS = 5_000;
/** It is reset, comes up again, and its kubelet renews its Lease. */
const BACK_AFTER_MS = 1_000;

function attestationOf(timeoutMs: number): string {
  return JSON.stringify({
    bootID: 'boot-1',
    systemUUID: UUID,
    watchdog: { state: 'armed', kind: 'hardware', action: 'reset', isPausable: false, timeoutMs },
    selfFence: { grantMs: 1, isolationTimeoutMs: 1, podStopMaxMs: 1, resetTimeMs: 1 },
  });
}

async function worldOf(bitesMs: number): Promise<ObjectWorld> {
  const world = await ObjectWorld.with(clock, [], NAMESPACE, reach);
  const annotations = { [ATTESTATION]: attestationOf(bitesMs), [GRANTS_ENDED]: JSON.stringify({ bootID: 'boot-1', eligible: [], promised: [] }) };
  const node = { metadata: { name: 'worker-1' }, spec: {}, status: { nodeInfo: { bootID: 'boot-1' } } } as unknown as Node;
  await world.cluster.create(NODES, node);
  await world.status(NODES, 'worker-1', { nodeInfo: { bootID: 'boot-1' } });
  const spec: Lease['spec'] = { renewTime: '2026-01-01T00:00:00.000000Z' };
  await world.cluster.create(LEASES, { metadata: { name: 'nodefence-node-worker-1', namespace: NAMESPACE, annotations }, spec });
  await world.cluster.create(LEASES, { metadata: { name: 'worker-1', namespace: NODE_LEASE_NAMESPACE }, spec });
  return world;
}

/** A machine that hangs, with a hardware watchdog that nobody feeds any more. */
async function spawn(behaviour: Behaviour): Promise<DeviceFixture> {
  const bitesMs = behaviour === 'slow' ? SLOW_BITES_MS : BITES_MS;
  const world = await worldOf(bitesMs);
  const beganAtMs = clock.monotonicMs();
  const isBack = (): boolean => behaviour === 'flips-back-on' && clock.monotonicMs() - beganAtMs > bitesMs + BACK_AFTER_MS;
  const stop = everyMoment(async () => {
    if (isBack()) await world.cluster.mergePatch(LEASES, 'worker-1', { spec: { renewTime: renewedNow() } }, { namespace: NODE_LEASE_NAMESPACE });
  });
  world.fault = faultOf(behaviour);
  return {
    parameters: {},
    plugs: [''],
    identity: { node: 'worker-1', systemUUID: UUID },
    context: { cluster: world.seen, namespace: NAMESPACE },
    flows: () => clock.monotonicMs() - beganAtMs < bitesMs || isBack(),
    commands: () => [],
    leftOpen: () => ({ sessions: 0, connections: 0, processes: 0 }),
    close: stop,
  };
}

/** Of the node's own clock, not a minute behind its attestation. */
function renewedNow(): string {
  return `2026-01-01T00:00:${String(Math.floor(clock.monotonicMs() / 1000) % 60).padStart(2, '0')}.000001Z`;
}

const NOTHING_SENT = 'nothing is sent: the agent only reads and waits';
const YES_OR_NO = 'proven or not yet is all that is said; what is refused for good has tests beside the agent';

testFaultProfile({
  // On the real clock: times that keep the rules would make each case last longer than a minute.
  agent: { ...watchdog, create: (context) => Promise.resolve(new WatchdogAgent(context, () => undefined)) },
  cannot: {
    restarts: 'an attestation is made before the failure and never read from a device',
    'accepts-and-lies':
      'a watchdog that was attested and does not bite is found out by nobody: the evidence is inferred, and has to be admitted by name',
    refuses: NOTHING_SENT,
    'late-after-deadline': NOTHING_SENT,
    'state-unknown': YES_OR_NO,
    'state-null': YES_OR_NO,
    'state-pending': YES_OR_NO,
    'wrong-machine': YES_OR_NO,
    'session-limit': 'an API server has no sessions',
    'one-plug-stuck': 'a machine has one watchdog',
  },
  words: { ...API_WORDS, 'flips-back-on': /the watchdog has surely bitten in \d+ s|the attestation was \d+ s old/u },
  spawn,
});
