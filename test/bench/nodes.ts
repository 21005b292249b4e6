import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { FENCE_NAME_PREFIX } from '../../src/domain/node-fence.ts';
import { pathOf } from '../../src/kube/resource-path.ts';
import { LEASES, NODE_FENCES, NODE_LEASE_NAMESPACE, NODES } from '../../src/ports/resources.ts';
import type { NodeFence } from '../../src/ports/resources.ts';
import { FIRST_HEARTBEAT, ready, timestamp } from './cluster.ts';
import type { BenchCluster } from './cluster.ts';

export const RENEW_EVERY_MS = 1_000;
/** From power on to Ready; longer than the controller takes to see that it stays on. */
const BOOT_MS = 2_000;
/** Within so many renewals a fence ends where nothing has to wait. */
const RENEWALS = 15;
/** A node counts as healthy by what is heard of it after the last action: where more is asked for than can be done, its kubelet goes on, as one does. */
const RENEW_ON_EVERY_MS = 10_000;
const RENEW_ON_FOR_MS = 1_800_000;

export async function fail(bench: BenchCluster, node: string): Promise<void> {
  await bench.cluster.mergePatch(NODES, node, { status: { conditions: [ready('Unknown', FIRST_HEARTBEAT)] } }, { subresource: 'status' });
}

/** The kubelet of a machine that was switched on: a new boot, a heartbeat, and a lease that is renewed until the fence has ended. */
export async function comeBack(bench: BenchCluster, node: string): Promise<void> {
  await pause(BOOT_MS);
  await renew(bench, node);
  const status = { conditions: [ready('True', timestamp())], nodeInfo: { bootID: `${node}-boot-${randomUUID()}` } };
  await bench.cluster.mergePatch(NODES, node, { status }, { subresource: 'status' });
  for (let renewals = 0; renewals < RENEWALS; renewals += 1) {
    await pause(RENEW_EVERY_MS);
    await renew(bench, node);
  }
  const giveUpAtMs = performance.now() + RENEW_ON_FOR_MS;
  while (performance.now() < giveUpAtMs && !(await hasEnded(bench, node))) {
    await renew(bench, node);
    await pause(RENEW_ON_EVERY_MS);
  }
}

async function hasEnded(bench: BenchCluster, node: string): Promise<boolean> {
  const fence = await bench.cluster.get(NODE_FENCES, `${FENCE_NAME_PREFIX}${node}`);
  return fence === undefined || fence.status?.state === 'final';
}

export async function renew(bench: BenchCluster, node: string): Promise<void> {
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  await bench.cluster.mergePatch(LEASES, node, { spec: { renewTime } }, { namespace: NODE_LEASE_NAMESPACE });
}

export async function untilFinal(bench: BenchCluster, count: number, withinMs: number): Promise<number> {
  const giveUpAtMs = performance.now() + withinMs;
  for (;;) {
    await pause(1_000);
    const all = await bench.cluster.list(NODE_FENCES);
    const final = all.filter((fence) => fence.status?.state === 'final').length;
    if (final >= count || performance.now() > giveUpAtMs) return final;
  }
}

/** The ends of fences as they come: NodeFences that are final are deleted some time later. `onBroken`: what comes after is not counted. */
export function watchFinals(bench: BenchCluster, onBroken: (why: string) => void): { count: () => number; close: () => void } {
  const ended = new Set<string>();
  const close = bench.transport.watch(
    { path: pathOf(NODE_FENCES), query: {} },
    {
      onOpen: () => undefined,
      onEvent: ({ object }) => {
        const { metadata, status } = object as NodeFence;
        if (status?.state === 'final') ended.add(`${metadata.uid ?? ''} ${status.incident}`);
      },
      onEnd: () => {
        onBroken('the watch of NodeFences ended');
      },
    },
  );
  return { count: () => ended.size, close };
}
