import { fenceName } from '../../domain/node-fence.ts';
import { NODE_FENCE_ACKNOWLEDGEMENTS, NODE_FENCES } from '../../ports/resources.ts';
import type { NodeFenceAcknowledgement } from '../../ports/resources.ts';
import { LEADER_LEASE } from '../../manager/composition.ts';
import { EXIT } from './failure.ts';
import type { ExitCode } from './failure.ts';
import { leaderOf, describeLeader } from './leader.ts';
import type { Session } from './person-command.ts';
import { readLease } from './read-lease.ts';
import { print } from './terminal/console.ts';
import { harmless } from './terminal/text.ts';

/** A device that is as dead as its machine is asked for 18 s before a person's word counts, and there may be two of them. */
const WAIT_MS = 45_000;
const ASK_EVERY_MS = 500;

/** Waits for what the controller makes of a word: 0 it counts, 1 it is refused, 3 it still waits. */
export async function awaitAnswer({ access, console }: Session, word: NodeFenceAcknowledgement): Promise<ExitCode> {
  const { cluster, clock } = access;
  const { ink } = console;
  const { name } = word.metadata;
  const untilMs = clock.monotonicMs() + WAIT_MS;
  console.say(ink.dim(`waiting for the controller, up to ${WAIT_MS / 1_000} s`));
  while (clock.monotonicMs() < untilMs) {
    const now = await cluster.get(NODE_FENCE_ACKNOWLEDGEMENTS, name);
    if (now === undefined) {
      print(console, `${name} was deleted before the controller used it.`, ink.bad);
      return EXIT.failed;
    }
    const message = harmless(now.status?.message ?? '');
    if (now.status?.state === 'accepted') {
      print(console, `ACCEPTED: ${message} The workload is released; watch it: nodefence status ${word.spec.node} -w`, ink.good);
      return EXIT.done;
    }
    if (now.status?.state === 'refused') {
      print(console, `REFUSED: ${message}`, ink.bad);
      return EXIT.failed;
    }
    await clock.sleep(ASK_EVERY_MS);
  }
  const [fence, { lease, unread }] = await Promise.all([cluster.get(NODE_FENCES, fenceName(word.spec.node)), readLease(access, LEADER_LEASE)]);
  const leader = leaderOf(lease, clock.wallMs(), unread);
  const why = leader.isAlive || lease === undefined ? (fence?.status?.message ?? 'the fence is gone') : describeLeader(leader, clock.wallMs());
  print(console, `It is still pending: ${harmless(why)} (nodefence explain ${word.spec.node} says what comes next)`, ink.warn);
  return EXIT.held;
}
