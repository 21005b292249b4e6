import type { Resource } from '../ports/cluster.ts';
import type { KubeObject, Node } from '../ports/objects.ts';
import { NODES } from '../ports/resources.ts';

/** As it comes over the wire: whatever stands beside metadata may be missing. */
export type Wire<T extends KubeObject> = KubeObject & Partial<Omit<T, keyof KubeObject>>;

type NodeInfo = NonNullable<Node['status']['nodeInfo']>;

/**
 * An object with the parts that its type promises. A Node that no kubelet has spoken for has empty texts in the place of its IDs, and none of its parts where
 * the server is not Kubernetes' own.
 */
export function wholeObject<T extends KubeObject>(resource: Resource<T>, object: T): T {
  return resource.group === NODES.group && resource.plural === NODES.plural ? (wholeNode(object) as KubeObject as T) : object;
}

function wholeNode({ spec, status, ...rest }: Wire<Node>): Node {
  const { nodeInfo, ...said } = status ?? {};
  const info = knownInfo(nodeInfo);
  return { ...rest, spec: spec ?? {}, status: { ...said, ...(info === undefined ? {} : { nodeInfo: info }) } };
}

/** Nobody's boot and nobody's machine have an empty ID: two of them would look like one, and one after another like a reboot. */
export function knownInfo(info: NodeInfo | undefined): NodeInfo | undefined {
  if (info === undefined || (info.bootID !== '' && info.systemUUID !== '' && info.machineID !== '')) return info;
  return Object.fromEntries(Object.entries(info).filter(([, text]) => text !== ''));
}
