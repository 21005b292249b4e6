import type { ApiEvent, TraceEvent } from '../../laws/trace.ts';
import type { NodeFenceStatus } from '../../domain/node-fence.ts';
import { CONTROLLER_USER } from '../run/cluster-session.ts';

/** What the controllers have done to these nodes and what runs there, up to a moment: nothing, while they are held. */
export function touches(trace: readonly TraceEvent[], nodes: readonly string[], untilMs = Infinity): string[] {
  const acts = trace.flatMap((event) => {
    if (event.at > untilMs) return [];
    if (event.kind === 'device')
      return event.action === 'set' && nodes.includes(event.node) ? [`${event.node} was told to switch ${event.want ?? '?'}`] : [];
    return event.kind === 'api' && isOurWrite(event) ? (touchOf(event, nodes) ?? []) : [];
  });
  return [...new Set(acts)];
}

function touchOf({ resource, subresource, verb, name = '?', object }: ApiEvent, nodes: readonly string[]): string | undefined {
  if (resource === 'nodes') return nodes.includes(name) ? `Node ${name} was changed` : undefined;
  if (resource !== 'pods' || (verb !== 'delete' && subresource !== 'eviction')) return undefined;
  const host = (object as { spec?: { nodeName?: string } } | undefined)?.spec?.nodeName;
  return host === undefined || nodes.includes(host) ? `pod ${name} was deleted` : undefined;
}

function isOurWrite({ user, verb, status }: ApiEvent): boolean {
  return user === CONTROLLER_USER && status < 300 && verb !== 'get' && verb !== 'list' && verb !== 'watch';
}

/** Each node was told in an Event that it is held, and not twice of the same policy. */
export function holdEventProblems(trace: readonly TraceEvent[], nodes: readonly string[]): string[] {
  const told = trace.flatMap((event) => holdEventOf(event) ?? []);
  return nodes.flatMap((node) => {
    const policies = told.filter((each) => each.node === node).map(({ policy }) => policy);
    if (policies.length === 0) return [`no event says that ${node} is held`];
    const twice = new Set(policies.filter((policy, index) => policies.indexOf(policy) !== index));
    return [...twice].map((policy) => `more than one event says that ${node} is held by ${policy}`);
  });
}

function holdEventOf(event: TraceEvent): { node: string; policy: string } | undefined {
  if (event.kind !== 'api' || event.resource !== 'events' || !isOurWrite(event)) return undefined;
  const {
    reason,
    message = '',
    involvedObject,
  } = (event.object ?? {}) as {
    reason?: string;
    message?: string;
    involvedObject?: { kind?: string; name?: string };
  };
  if (reason !== 'FencingHeld' || involvedObject?.kind !== 'Node') return undefined;
  return { node: involvedObject.name ?? '', policy: /^Held by ([^:]+):/.exec(message)?.[1] ?? message };
}

/** From a fence's first run until its workload is released or it fails: so long it takes capacity away. */
interface Slot {
  node: string;
  fromMs: number;
  toMs: number;
}

/** As the NodeFences in the API show them. */
export function slotsOf(trace: readonly TraceEvent[]): Slot[] {
  const slots = new Map<string, Slot>();
  for (const event of trace) {
    if (event.kind !== 'api' || event.resource !== 'nodefences.ha.k8s.io' || event.status >= 300) continue;
    const fence = event.object as { spec?: { node?: string }; status?: Partial<NodeFenceStatus> } | undefined;
    const [node, status] = [fence?.spec?.node, fence?.status];
    if (node === undefined || (status?.journal ?? []).length === 0) continue;
    const slot = slots.get(node) ?? { node, fromMs: event.at, toMs: Infinity };
    slots.set(node, slot);
    const isOver = status?.timeline?.releasedAt !== undefined || status?.state === 'error' || status?.state === 'final';
    if (isOver) slot.toMs = Math.min(slot.toMs, event.at);
  }
  return [...slots.values()];
}

/** So many fences at once and no more, and never all of them: somebody had to wait. */
export function slotProblems(trace: readonly TraceEvent[], most: number, toleranceMs = 50): string[] {
  const slots = slotsOf(trace);
  return slots.flatMap(({ node, fromMs }) => {
    const others = slots.filter((other) => other.node !== node && other.fromMs <= fromMs && other.toMs > fromMs + toleranceMs);
    return others.length < most ? [] : [`the fence of ${node} began while those of ${others.map((other) => other.node).join(', ')} were under way`];
  });
}
