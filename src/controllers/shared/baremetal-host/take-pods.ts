import { releasePlan } from '../../../domain/release-plan.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Cluster } from '../../../ports/cluster.ts';
import type { Pod } from '../../../ports/objects.ts';
import { Conflict } from '../conflict.ts';
import type { ObjectRef } from '../remediation/actions.ts';
import { AskedPods } from '../release/asked-pods.ts';
import { factsOf } from '../release/pod-facts.ts';
import { letGo } from '../release/pods.ts';
import type { OffProof } from './off-proof.ts';
import { nodeToRelease } from './remove-node.ts';
import type { NodeLife } from './remove-node.ts';

/** From the taint to the last deletion: what is left by then is Kubernetes' to take. */
const TAKING_MAX_MS = 4_000;
/** From the look at Node, Lease and stops to the deletions that rest on it: they may have waited for a connection. */
const LOOK_MAX_AGE_MS = 1_000;

interface TakingDependencies {
  /** Of the Node. */
  cluster: Cluster;
  clock: Clock;
  life: NodeLife;
  /** Each goes by its uid, so that they may be of a while ago. */
  podsOf: (node: string) => Promise<readonly Pod[]> | readonly Pod[];
  /** Rejects while a person has stopped it, in whichever cluster. */
  unlessStopped: () => Promise<void>;
}

/**
 * Behind the out-of-service taint of a Node whose host is proven off: what the garbage collector of pods would delete in its next round, up to 20 s later, is
 * deleted at once, each by its uid, as long as nothing has changed since the proof. Whatever is refused is left to Kubernetes.
 */
export async function takePods(
  { cluster, clock, life, podsOf, unlessStopped }: TakingDependencies,
  target: ObjectRef,
  proof: OffProof,
): Promise<void> {
  const beganAtMs = clock.monotonicMs();
  let verifiedAtMs = beganAtMs;
  const pods = await podsOf(target.name);
  const { taken } = releasePlan({ kind: 'host-off' }, { mode: 'out-of-service' }, pods.map(factsOf), []);
  const mayGoOn = (): void => {
    const lastLifeMs = life.lastLifeMs(target.name);
    if (lastLifeMs !== undefined && lastLifeMs > proof.seenMs) throw new Conflict(`node ${target.name} has shown life since its host was seen off`);
    const nowMs = clock.monotonicMs();
    if (nowMs - beganAtMs > TAKING_MAX_MS || nowMs - verifiedAtMs > LOOK_MAX_AGE_MS)
      throw new Conflict(`the rest of the pods of node ${target.name} is left to Kubernetes`);
  };
  const verify = async (): Promise<void> => {
    const atMs = clock.monotonicMs();
    await Promise.all([unlessStopped(), nodeToRelease({ cluster, life }, target, proof)]);
    verifiedAtMs = atMs;
    mayGoOn();
  };
  await letGo({ cluster, clock }, { asked: new AskedPods(), verify, mayGoOn, outlives: () => undefined }, taken, 'force', { freed: [], gone: [] });
}
