import type { StormPolicy } from './policy.ts';
import { holdsSlot, isUnhealthy, planesOf } from './node-set.ts';
import { forAll, named, stormPolicy } from './scope.ts';
import type { CommonSettings, Ruling } from './scope.ts';
import type { EtcdMember, StormNode, StormView } from './view.ts';

/**
 * One control-plane node at a time, and only while etcd keeps its quorum without the node that is fenced: that one counts as lost whatever its member
 * still answers. Where the members cannot be found out, a majority of the control-plane nodes must be healthy without it.
 */
export function controlPlane(settings: CommonSettings): StormPolicy {
  return stormPolicy('control-plane', settings, (view) => {
    const planes = planesOf(view.nodes);
    const members = view.controlPlane.members ?? [];
    if (planes.length === 0 && members.length === 0) return forAll(undefined);
    const hosts = new Set(members.map(({ node }) => node));
    const underWay = inOrder(planes.filter(isUnderWay), view);
    const isSound = (name: string | undefined): boolean => {
      const node = name === undefined ? undefined : view.nodes.get(name);
      if (node === undefined) return true;
      return !(isUnhealthy(node) || isUnderWay(node) || view.controlPlane.offOnRequest?.has(node.name) === true);
    };
    const healthy = new Set(members.filter((member) => member.isHealthy && isSound(member.node)));
    const soundPlanes = new Set(planes.filter(({ name }) => isSound(name)));
    const ruling: Ruling = (node) => {
      if (!node.isControlPlane && !hosts.has(node.name)) return undefined;
      return (
        (node.isControlPlane ? alone(node, underWay) : undefined) ??
        (members.length > 0 ? quorum(node, members, healthy) : majority(node, planes, soundPlanes))
      );
    };
    return ruling;
  });
}

/** Begun, and not yet through its release and its `on`. What failed, is off on purpose or is kept from going on counts as lost and blocks nobody. */
function isUnderWay(node: StormNode): boolean {
  return holdsSlot(node) || (node.fence?.state === 'running' && node.fence.isKept !== true);
}

/** First those that began first, so that of two that began at once one goes on. */
function inOrder(nodes: readonly StormNode[], { starts }: StormView): readonly string[] {
  if (nodes.length < 2) return nodes.map(({ name }) => name);
  const begun = new Map(starts.map(({ node, atMs }) => [node, atMs]));
  const at = ({ name }: StormNode): number => begun.get(name) ?? Number.NEGATIVE_INFINITY;
  return nodes.toSorted((one, other) => compare(at(one), at(other)) || compare(one.name, other.name)).map(({ name }) => name);
}

function compare<T extends number | string>(one: T, other: T): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function alone(node: StormNode, underWay: readonly string[]): ReturnType<Ruling> {
  const [first] = underWay;
  if (first === undefined || first === node.name) return undefined;
  const message = `control-plane node ${first} is being fenced: one at a time; ends when its workload is released and it is on again, or its fence has failed`;
  return { reason: 'control-plane-fencing', message };
}

function quorum(node: StormNode, members: readonly EtcdMember[], healthy: ReadonlySet<EtcdMember>): ReturnType<Ruling> {
  if (!members.some((member) => member.node === node.name)) return undefined;
  const left = members.filter((member) => healthy.has(member) && member.node !== node.name);
  const needed = Math.floor(members.length / 2) + 1;
  if (left.length >= needed) return undefined;
  const lost = members.filter((member) => !left.includes(member)).map(({ name, source }) => `${name} by ${source}`);
  const message = `etcd would have ${left.length} of ${members.length} members, its quorum is ${needed} (lost then: ${named(lost)}); ends when at least ${needed} others are healthy${needed > members.length - 1 ? ', which so few members never allow' : ''}`;
  return { reason: 'etcd-quorum', message };
}

function majority(node: StormNode, planes: readonly StormNode[], sound: ReadonlySet<StormNode>): ReturnType<Ruling> {
  const left = planes.filter((other) => sound.has(other) && other.name !== node.name);
  const needed = Math.floor(planes.length / 2) + 1;
  if (left.length >= needed) return undefined;
  const message = `the members of etcd are not known, and ${left.length} of ${planes.length} control-plane nodes would be healthy, ${needed} must be; ends when at least ${needed} others are healthy${needed > planes.length - 1 ? ', which so few nodes never allow' : ''}`;
  return { reason: 'control-plane-majority', message };
}
