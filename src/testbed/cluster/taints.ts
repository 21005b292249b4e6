import type { Node, Pod, Taint } from '../../ports/objects.ts';

export const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';
export const NOT_READY = 'node.kubernetes.io/not-ready';
export const UNREACHABLE = 'node.kubernetes.io/unreachable';
export const UNSCHEDULABLE = 'node.kubernetes.io/unschedulable';

type Toleration = NonNullable<Pod['spec']['tolerations']>[number];

export function isOutOfService(node: Node | undefined): boolean {
  return node?.spec.taints?.some((taint) => taint.key === OUT_OF_SERVICE) === true;
}

/** v1.Toleration.ToleratesTaint. */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect !== undefined && toleration.effect !== '' && toleration.effect !== taint.effect) return false;
  if (toleration.key !== undefined && toleration.key !== '' && toleration.key !== taint.key) return false;
  return toleration.operator === 'Exists' || (toleration.value ?? '') === (taint.value ?? '');
}

/** How long the pod may stay beside these taints: `0` not at all, `undefined` for ever. Milliseconds. */
export function toleratedMs(pod: Pod, taints: readonly Taint[]): number | undefined {
  let shortestMs: number | undefined;
  for (const taint of taints) {
    const matching = (pod.spec.tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
    if (matching.length === 0) return 0;
    for (const { tolerationSeconds } of matching) {
      if (tolerationSeconds === undefined) continue;
      shortestMs = Math.min(shortestMs ?? Number.POSITIVE_INFINITY, Math.max(0, tolerationSeconds) * 1_000);
    }
  }
  return shortestMs;
}
