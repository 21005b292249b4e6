import type { Cluster } from '../../../ports/cluster.ts';
import type { Node } from '../../../ports/objects.ts';
import { NODES } from '../../../ports/resources.ts';
import type { HoldFact } from './actions.ts';

const LABELS = ['node-role.kubernetes.io/control-plane', 'node-role.kubernetes.io/master'];

/** A majority of the control-plane nodes must be Ready without this one, which counts as lost whatever it answers (P10); `undefined`: it is none, or they are. */
export async function controlPlaneHold(cluster: Pick<Cluster, 'list'>, { metadata }: Node): Promise<HoldFact | undefined> {
  if (!isControlPlane(metadata.labels)) return undefined;
  const planes = (await cluster.list(NODES)).filter((node) => isControlPlane(node.metadata.labels));
  const left = planes.filter((node) => node.metadata.name !== metadata.name && isReady(node)).length;
  const needed = Math.floor(planes.length / 2) + 1;
  if (left >= needed) return undefined;
  const message = `without ${metadata.name} ${left} of ${planes.length} control-plane nodes would be Ready, ${needed} must be`;
  return { reason: 'control-plane-majority', message, isStop: false };
}

function isControlPlane(labels: Readonly<Record<string, string>> = {}): boolean {
  return LABELS.some((label) => labels[label] !== undefined);
}

function isReady({ status }: Node): boolean {
  return status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true;
}
