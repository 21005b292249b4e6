import { NODES, PODS } from '../../ports/resources.ts';
import { createMember, loseMember } from '../../testbed/cluster/etcd.ts';
import { firstAnswer, pause } from '../run/pause.ts';
import { isPodReady } from '../run/readiness.ts';
import { WORLD } from './names.ts';
import { panic, strike } from './script.ts';
import type { FaultFindings, FaultScript, FaultStage } from './script.ts';
import { untilHeld } from './storm-faults.ts';
import { holdEventProblems, touches } from './storm-findings.ts';

const POLL_MS = 100;
const MEMBERS_MS = 20_000;
const MARK = 'nodefence/maintenance';

/** Held until somebody takes away what holds it; then fenced like any other. */
async function heldUntil(stage: FaultStage, policy: string, end: () => Promise<void>): Promise<FaultFindings> {
  const { session, node } = stage;
  const hold = await untilHeld(stage, node);
  stage.tell(hold === undefined ? 'nobody holds it' : 'nothing is done to it; its pods wait');
  await pause(WORLD.watchedMs / 2);
  const trace = session.traces();
  const problems = [...touches(trace, [node]), ...holdEventProblems(trace, [node])];
  if (hold?.policy !== policy) problems.push(`it was held by ${hold?.policy ?? 'nobody'}, and not by ${policy}`);
  await end();
  return { problems, did: `it was held by ${hold?.policy ?? 'nobody'} for a while` };
}

/** A node that somebody works on is left to him. */
export const maintenance: FaultScript = async (stage) => {
  const { session, node } = stage;
  const mark = async (value: string | null): Promise<void> => {
    await session.cluster.mergePatch(NODES, node, { metadata: { annotations: { [MARK]: value } } });
  };
  await mark('disk swap');
  stage.tell(`an admin annotates ${node}: ${MARK}=disk swap`);
  const end = async (): Promise<void> => {
    await mark(null);
    stage.tell('the admin is done and takes the mark away; the node is still down');
  };
  return { atMs: strike(stage, 'maintenance', () => panic(stage)), over: heldUntil(stage, 'maintenance', end) };
};

/** Of three members of etcd one is down already: fencing the node of another would end the quorum for good. */
export const etcdQuorum: FaultScript = async (stage) => {
  const { session, watcher, node } = stage;
  const other = session.nodes.find((each) => each !== node) ?? '';
  for (const each of session.nodes) await createMember(session.cluster, each);
  const areReady = async (wanted: number): Promise<true | undefined> => {
    const pods = await session.cluster.list(PODS, { namespace: 'kube-system' });
    return pods.filter(isPodReady).length === wanted ? true : undefined;
  };
  if ((await firstAnswer(() => areReady(session.nodes.length), MEMBERS_MS, POLL_MS)) === undefined) throw new Error('the members of etcd do not run');
  await loseMember(session.cluster, other);
  await watcher.until(
    `etcd on ${other} to be down`,
    MEMBERS_MS,
    () => [...watcher.pods.all()].filter(isMember).filter(isPodReady).length < session.nodes.length,
  );
  stage.tell(`the etcd on ${other} is down; ${other} itself is Ready`);
  const end = async (): Promise<void> => {
    await createMember(session.cluster, other);
    stage.tell(`the etcd on ${other} is back`);
  };
  return { atMs: strike(stage, 'etcd-quorum', () => panic(stage)), over: heldUntil(stage, 'control-plane', end) };
};

function isMember({ metadata }: { metadata: { labels?: Record<string, string> } }): boolean {
  return metadata.labels?.['component'] === 'etcd';
}
