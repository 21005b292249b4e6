import type { ApiEvent, TraceEvent } from '../../laws/trace.ts';
import type { NodeFenceStatus } from '../../../domain/node-fence.ts';
import { CONTROLLER_USER } from '../cluster-session.ts';

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

/** How often each node was told in an Event that it is held. */
export function holdEvents(trace: readonly TraceEvent[], nodes: readonly string[]): ReadonlyMap<string, number> {
  const counts = new Map(nodes.map((node) => [node, 0]));
  for (const event of trace) {
    if (event.kind !== 'api' || event.resource !== 'events' || !isOurWrite(event)) continue;
    const told = event.object as { reason?: string; involvedObject?: { kind?: string; name?: string } } | undefined;
    const { kind, name = '' } = told?.involvedObject ?? {};
    const count = counts.get(name);
    if (told?.reason === 'FencingHeld' && kind === 'Node' && count !== undefined) counts.set(name, count + 1);
  }
  return counts;
}

/** Exactly one Event for each node. */
export function holdEventProblems(trace: readonly TraceEvent[], nodes: readonly string[]): string[] {
  return [...holdEvents(trace, nodes)]
    .filter(([, count]) => count !== 1)
    .map(([node, count]) => `${count} events say that ${node} is held, and not one`);
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
