import { KDUMP_ADDRESSES } from '../../../domain/kdump/record.ts';
import { fenceName } from '../../../domain/node-fence.ts';
import { NODES } from '../../../ports/resources.ts';
import type { KdumpNetwork } from '../../run/kdump-network.ts';
import { pause } from '../../run/pause.ts';
import { isOver } from '../../run/readiness.ts';
import { EXPECTED } from '../names.ts';
import type { Fault } from '../names.ts';
import { panic, strike } from '../script.ts';
import type { FaultFindings, FaultScript, FaultStage } from '../script.ts';
import { offProblems } from './kdump-findings.ts';
import type { OffWindow } from './kdump-findings.ts';
import { DUMP } from './kdump-times.ts';

/** Between two messages. */
const MESSAGE_MS = 1_000;
/** A lease renewal that was late, a pass, and the run until its first write to the device. */
const SLACK_MS = 6_000;
/** Two clocks that show the same moment. */
const EARLY_MS = 500;

interface Heard {
  firstMs: number;
  lastMs: number;
  count: number;
}

/** The kernel panics, its crash kernel boots and sends messages while `goesOn`. */
function dumping(fault: Fault, goesOn: (heard: Heard, stage: FaultStage) => boolean, window: (heard: Heard) => OffWindow): FaultScript {
  return async (stage) => {
    const network = await addressed(stage);
    const heard: Heard = { firstMs: 0, lastMs: 0, count: 0 };
    const atMs = strike(stage, fault, () => panic(stage));
    return { atMs, over: dump(stage, network, heard, goesOn), judges: (seen) => offProblems(seen, stage.node, window(heard)) };
  };
}

/** Every node says from where its crash kernel would send. */
async function addressed({ session }: FaultStage): Promise<KdumpNetwork> {
  const { kdump } = session;
  if (kdump === undefined) throw new Error('the controllers of this drill hear no kdump messages');
  for (const node of session.nodes) {
    await session.cluster.mergePatch(NODES, node, { metadata: { annotations: { [KDUMP_ADDRESSES]: kdump.addressOf(node) } } });
  }
  return kdump;
}

async function dump(
  stage: FaultStage,
  network: KdumpNetwork,
  heard: Heard,
  goesOn: (heard: Heard, stage: FaultStage) => boolean,
): Promise<FaultFindings> {
  const { session, node } = stage;
  const sender = await network.sender(network.addressOf(node));
  try {
    await pause(DUMP.bootMs);
    stage.tell(`the crash kernel of ${node} runs, and sends its messages`);
    const untilMs = session.now() + EXPECTED['kdump-endless'].deadlineMs;
    while (session.now() < untilMs && goesOn(heard, stage)) {
      sender.send();
      heard.lastMs = session.now();
      // What was sent over the loopback is heard by every process that listens.
      for (const { name } of stage.replicas.running) session.record({ kind: 'dump', at: heard.lastMs, node, session: name });
      if (heard.count === 0) heard.firstMs = heard.lastMs;
      heard.count += 1;
      await pause(MESSAGE_MS);
    }
    stage.tell(`no more messages come, after ${heard.count}`);
    const isHeld = await untilHeld(stage);
    return { problems: isHeld ? [] : ['its fence was not held for the dump'], did: `${heard.count} kdump messages were sent` };
  } finally {
    sender.close();
  }
}

const HELD = new WeakSet<FaultStage>();

/** Was it ever held for its dump? Asked at each message, and for a while after the last. */
async function untilHeld(stage: FaultStage): Promise<boolean> {
  for (let tries = 0; tries < 60 && !isHeld(stage); tries += 1) await pause(200);
  return HELD.has(stage);
}

function isHeld(stage: FaultStage): boolean {
  const hold = stage.watcher.fences.get(fenceName(stage.node))?.status?.hold;
  if (hold?.reason === 'kdump-dumping') HELD.add(stage);
  return HELD.has(stage);
}

const afterSilence = ({ lastMs }: Heard): OffWindow => ({
  fromMs: lastMs + DUMP.finishedMs - EARLY_MS,
  untilMs: lastMs + DUMP.finishedMs + SLACK_MS,
  because: `kdump_finished_timeout is ${DUMP.finishedMs / 1_000} s after the last message`,
});

/** A whole dump, and silence when it is over. */
export const kdump = dumping(
  'kdump',
  ({ firstMs, count }, stage) => (isHeld(stage), count === 0 || stage.session.now() - firstMs < DUMP.takesMs),
  afterSilence,
);

/** It begins to dump and hangs. */
export const kdumpHang = dumping('kdump-hang', ({ count }) => count < 3, afterSilence);

/** Its messages never end. */
export const kdumpEndless = dumping(
  'kdump-endless',
  (_heard, stage) => (isHeld(stage), !isOver(stage.watcher, stage.node)),
  ({ firstMs }) => ({
    fromMs: firstMs + DUMP.maxMs - EARLY_MS,
    untilMs: firstMs + DUMP.maxMs + SLACK_MS,
    because: `kdump_max_duration is ${DUMP.maxMs / 1_000} s after the first message`,
  }),
);

/** Messages for a healthy neighbour, and from an address that is no node's: nobody is held, nothing is switched for them. */
export const kdumpForged: FaultScript = async (stage) => {
  const { session, node } = stage;
  const network = await addressed(stage);
  const neighbour = session.nodes.find((each) => each !== node) ?? '';
  const atMs = strike(stage, 'kdump-forged', () => panic(stage));
  const window = { fromMs: atMs, untilMs: atMs + DUMP.plainMs, because: 'nobody dumps' };
  return { atMs, over: forge(stage, network, neighbour), judges: (seen) => offProblems(seen, node, window) };
};

async function forge(stage: FaultStage, network: KdumpNetwork, neighbour: string): Promise<FaultFindings> {
  const senders = [await network.sender(network.stranger), await network.sender(network.addressOf(neighbour))];
  stage.tell(`somebody sends kdump messages for ${neighbour}, which is healthy, and from an address that is no node's`);
  const untilMs = stage.session.now() + EXPECTED['kdump-forged'].deadlineMs;
  const problems = new Set<string>();
  try {
    while (stage.session.now() < untilMs && !isOver(stage.watcher, stage.node)) {
      for (const sender of senders) sender.send();
      if (isHeld(stage)) problems.add('its fence was held by messages that were not its own');
      if (stage.watcher.fences.get(fenceName(neighbour)) !== undefined) problems.add(`${neighbour} has a fence`);
      await pause(MESSAGE_MS / 4);
    }
  } finally {
    for (const sender of senders) sender.close();
  }
  return { problems: [...problems], did: 'messages were forged' };
}
