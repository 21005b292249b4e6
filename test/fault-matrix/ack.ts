import { ack } from '../../agents/ack/definition.ts';
import { ObjectWorld } from '../../src/testbed/objects/object-world.ts';
import { NODE_FENCE_ACKNOWLEDGEMENTS, NODE_FENCES, NODES } from '../../src/ports/resources.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { testFaultProfile } from './harness.ts';
import { API_WORDS, everyMoment, faultOf } from './object-faults.ts';
import type { Behaviour, DeviceFixture } from './fault-profile.ts';
import { reach } from '../reach.ts';

const clock = new SystemClock();
/** The person needs so long to walk there. */
const WALK_MS = 2_000;
const SLOW_WALK_MS = 8_000;

async function worldOf(): Promise<{ world: ObjectWorld; uid: string }> {
  const world = await ObjectWorld.with(clock, [NODE_FENCES, NODE_FENCE_ACKNOWLEDGEMENTS], 'nodefence-system', reach);
  await world.cluster.create(NODES, { metadata: { name: 'worker-1' }, spec: {}, status: {} });
  const fence = await world.cluster.create(NODE_FENCES, { metadata: { name: 'node-fence-worker-1' }, spec: { node: 'worker-1' } });
  await world.status(NODE_FENCES, 'node-fence-worker-1', {
    state: 'running',
    incident: 1,
    frozen: { nodeUID: 'uid-1', plan: { minimumEvidence: ['ack'] } },
    journal: [],
    evidence: [],
  });
  return { world, uid: fence.metadata.uid ?? '' };
}

/** A person who walks to the machine, pulls its plug, and says so. */
async function spawn(behaviour: Behaviour): Promise<DeviceFixture> {
  const { world, uid } = await worldOf();
  const beganAtMs = clock.monotonicMs();
  const walkMs = behaviour === 'slow' ? SLOW_WALK_MS : WALK_MS;
  let isPulled = false;
  const stop = everyMoment(async () => {
    if (isPulled || clock.monotonicMs() - beganAtMs < walkMs) return;
    isPulled = true;
    const spec = { node: 'worker-1', nodeFenceUID: uid, incident: 1, reason: 'the plug is in my hand' };
    await world.cluster.create(NODE_FENCE_ACKNOWLEDGEMENTS, { metadata: { name: 'word-1' }, spec });
  });
  world.fault = faultOf(behaviour);
  return {
    parameters: {},
    plugs: [''],
    identity: { node: 'worker-1' },
    context: { cluster: world.seen },
    flows: () => !isPulled,
    commands: () => [],
    leftOpen: () => ({ sessions: 0, connections: 0, processes: 0 }),
    close: stop,
  };
}

const NOTHING_SENT = 'nothing is sent: the agent asks, and waits for a word';
const WEIGHED = 'whether a word is true is weighed by the core against every device, and has tests there';

testFaultProfile({
  agent: ack,
  cannot: {
    restarts: 'a person has no firmware that restarts',
    'accepts-and-lies': WEIGHED,
    'flips-back-on': WEIGHED,
    'wrong-machine': WEIGHED,
    'state-unknown': WEIGHED,
    'state-null': WEIGHED,
    'state-pending': WEIGHED,
    refuses: NOTHING_SENT,
    'late-after-deadline': NOTHING_SENT,
    'session-limit': 'an API server has no sessions',
    'one-plug-stuck': 'a word is about the whole machine',
  },
  words: API_WORDS,
  spawn,
});
