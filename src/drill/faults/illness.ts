import type { Cluster } from '../../ports/cluster.ts';
import type { NodeCondition } from '../../ports/objects.ts';
import { NODES } from '../../ports/resources.ts';
import { WorldApi } from '../../testbed/cluster/api.ts';
import { WORLD_NODES } from '../../testbed/cluster/kinds.ts';
import { firstAnswer } from '../run/pause.ts';
import type { FaultStage } from './script.ts';

/** What a node problem detector tells of a kernel that is stuck: the kubelet goes on, and the node stays Ready. */
export const ILLNESS = 'KernelDeadlock';

const POLL_MS = 200;
const BOOTED_MS = 120_000;

/** What the node problem detector says of the kernel of a node. */
export async function diagnose(stage: Pick<FaultStage, 'session' | 'tell'>, node: string, isIll: boolean): Promise<void> {
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const condition: NodeCondition = {
    type: ILLNESS,
    status: isIll ? 'True' : 'False',
    reason: isIll ? 'DockerHung' : 'KernelHasNoDeadlock',
    message: isIll ? 'task docker:7 blocked for more than 300 seconds.' : 'kernel has no deadlock',
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  };
  const api = new WorldApi(stage.session.transport);
  await api.patch(WORLD_NODES, { name: node, subresource: 'status' }, 'strategic', { status: { conditions: [condition] } });
  stage.tell(`the node problem detector of ${node}: ${ILLNESS} is ${condition.status}`);
}

/** The id of the boot that its Node tells of; undefined without a Node. */
export async function bootOf(cluster: Pick<Cluster, 'get'>, node: string): Promise<string | undefined> {
  return (await cluster.get(NODES, node))?.status.nodeInfo?.bootID;
}

/** An illness ends with the kernel that has it, once the node problem detector has looked. Resolves with whether there was another boot. */
export async function isCuredByBoot(stage: Pick<FaultStage, 'session' | 'tell'>, node: string, before: string | undefined): Promise<boolean> {
  const booted = async (): Promise<true | undefined> => {
    const boot = await bootOf(stage.session.cluster, node);
    return boot !== undefined && boot !== before ? true : undefined;
  };
  if ((await firstAnswer(booted, BOOTED_MS, POLL_MS)) === undefined) return false;
  await diagnose(stage, node, false);
  return true;
}
