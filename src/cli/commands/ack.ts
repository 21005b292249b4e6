import { Option } from 'commander';
import type { Command } from 'commander';
import { releasablePods } from '../../controllers/fence/workload.ts';
import { acknowledged, refusalOf } from '../../domain/acknowledgement.ts';
import { fenceName } from '../../domain/node-fence.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import { authorOf, REQUESTED_BY, voucher } from '../../ports/authorship.ts';
import type { Voucher } from '../../ports/authorship.ts';
import { NODE_FENCE_ACKNOWLEDGEMENTS } from '../../ports/resources.ts';
import type { NodeFence, NodeFenceAcknowledgement } from '../../ports/resources.ts';
import type { ClusterFlags } from '../cluster-access.ts';
import { awaitAnswer } from './ack-answer.ts';
import { lastReads } from './device-reads.ts';
import { noSuchNode } from './explain.ts';
import { CommandFailure, EXIT } from './failure.ts';
import type { ExitCode } from './failure.ts';
import { listForNode } from './listed-cluster.ts';
import type { ListedCluster } from './listed-cluster.ts';
import { nodeArgument } from './node-argument.ts';
import { ackPage } from './pages/ack-page.ts';
import { personCommand, run } from './person-command.ts';
import type { Session } from './person-command.ts';
import { requesterOf } from './requester.ts';
import { reasonArgument } from './stop-scope.ts';
import { print } from './terminal/console.ts';
import { harmless } from './terminal/text.ts';
import { moment } from './terminal/times.ts';

interface AckFlags extends ClusterFlags {
  reason: string;
  yes?: true;
  wait: boolean;
  despiteLastRead?: true;
}

/** The fence that is open, as a word about it must name it. */
interface OpenFence {
  fence: NodeFence;
  uid: string;
  status: NodeFenceStatus;
  bootID: string | undefined;
}

const NODE_PART_MAX = 200;

/** `nodefence ack <node> --reason TEXT`: a person's word that a machine is down. */
export function ackCommand(): Command {
  return personCommand('ack', 'confirm that you have seen the machine of a failed node down: its workload is released on your confirmation')
    .argument('<node>', 'name of a Node', nodeArgument)
    .addOption(new Option('--reason <text>', 'what you saw, and how').argParser(reasonArgument).makeOptionMandatory())
    .option('--yes', 'do not ask for the name of the node')
    .option('--despite-last-read', 'the last read shows on, and you cut the power after it; devices are read again all the same')
    .option('--no-wait', 'do not wait for the controller’s answer')
    .action((node: string, flags: AckFlags) => run(flags, (session) => acknowledge(session, node, flags)));
}

async function acknowledge(session: Session, node: string, flags: AckFlags): Promise<ExitCode> {
  const { access, console } = session;
  const cluster = await listForNode(access, node);
  const nowMs = access.clock.wallMs();
  const open = openFence(cluster, node, access.server);
  demandUse(cluster, open, nowMs, await voucher(access.cluster));
  const reads = lastReads(open.status);
  const page = { node, bootID: open.bootID, status: open.status, reads, freed: releasablePods(cluster.listers, node).map(freedPod) };
  console.say(ackPage(page, { ink: console.ink, width: console.width, nowMs }));
  const alive = reads.find((read) => read.shows === 'on');
  if (alive !== undefined && flags.despiteLastRead !== true) {
    throw new CommandFailure(
      harmless(
        `nothing was acknowledged: ${`${alive.device} ${alive.plug}`.trim()} showed on at its last read, ${moment(alive.at, nowMs)}. Cut the power of the machine, check that it is off, then run this again with --despite-last-read`,
      ),
    );
  }
  await demandConsent(console, node, flags.yes === true);
  const word = await access.cluster.create(NODE_FENCE_ACKNOWLEDGEMENTS, {
    metadata: { name: nameFor(open, access.random.uuid()), annotations: { [REQUESTED_BY]: await requesterOf(access) } },
    spec: {
      node,
      nodeFenceUID: open.uid,
      incident: open.status.incident,
      ...(open.bootID === undefined ? {} : { bootID: open.bootID }),
      reason: flags.reason,
    },
  });
  print(console, `Acknowledged: node ${node} is down (NodeFenceAcknowledgement ${word.metadata.name}). It counts once, for 15 minutes.`);
  return flags.wait ? awaitAnswer(session, word) : EXIT.done;
}

function openFence({ listers }: ListedCluster, node: string, server: string): OpenFence {
  const observed = listers.nodes.get(node);
  const fence = listers.fences.get(fenceName(node));
  if (observed === undefined && fence === undefined) throw noSuchNode(node, { server });
  const status = fence?.status;
  if (fence === undefined || status?.frozen === undefined) {
    throw new CommandFailure(
      `nothing was acknowledged: no fence of node ${node} is open, so there is nothing to release. nodefence explain ${node} says why`,
    );
  }
  return { fence, uid: fence.metadata.uid ?? '', status, bootID: observed?.status.nodeInfo?.bootID };
}

/** The controller's own rules, asked before a person is. */
function demandUse({ listers }: ListedCluster, { uid, status, bootID, fence }: OpenFence, nowMs: number, vouches: Voucher): void {
  const refusal = refusalOf({ nodeFenceUID: uid, incident: status.incident, bootID, ageMs: 0 }, { uid, status }, { bootID });
  if (refusal !== undefined) throw new CommandFailure(`nothing was acknowledged: ${refusal}`);
  if (acknowledged(status) !== undefined)
    throw new CommandFailure('nothing was acknowledged: this fence has been acknowledged already, its workload is being released');
  const waiting = [...listers.acknowledgements.all()].find(
    ({ spec, status: answer }) =>
      spec.node === fence.spec.node && spec.nodeFenceUID === uid && spec.incident === status.incident && answer?.state === undefined,
  );
  if (waiting !== undefined) throw new CommandFailure(harmless(`nothing was acknowledged: ${describePending(waiting, nowMs, vouches)}`), EXIT.held);
}

function describePending(word: NodeFenceAcknowledgement, nowMs: number, vouches: Voucher): string {
  const { metadata, spec } = word;
  const by = authorOf(word, vouches);
  return `${metadata.name} waits already, given ${moment(metadata.creationTimestamp, nowMs)}${by === undefined ? '' : ` by ${by}`}: ${spec.reason}`;
}

async function demandConsent(console: Session['console'], node: string, isGiven: boolean): Promise<void> {
  if (isGiven) return;
  if (!console.canAsk) throw new CommandFailure('nothing was acknowledged: there is no terminal to ask at; say --yes when you are sure', EXIT.usage);
  const answer = await console.ask(`Type the name of the node when you have SEEN that its machine is down: `);
  if (answer.trim() !== node) throw new CommandFailure(`nothing was acknowledged: that is not ${node}`);
}

function nameFor({ status, fence }: OpenFence, uuid: string): string {
  return `ack-${fence.spec.node.slice(0, NODE_PART_MAX)}-${status.incident}-${uuid.slice(0, 8)}`;
}

function freedPod(pod: ReturnType<typeof releasablePods>[number]): { namespace: string; name: string; claims: string[] } {
  const claims = (pod.spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
  return { namespace: pod.metadata.namespace ?? 'default', name: pod.metadata.name, claims };
}
