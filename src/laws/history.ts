import type { Lease, Node, Pod, VolumeAttachment } from '../ports/objects.ts';
import type { NodeFenceStop } from '../ports/resources.ts';
import type { Expectations } from './expectations.ts';
import { fenceHistories, incidentStart, intentBefore } from './fence-history.ts';
import type { FenceHistory, Intent } from './fence-history.ts';
import { withForeignSets } from './foreign-sets.ts';
import { gracePeriodOf, nameOf, ObjectStates } from './object-states.ts';
import { Timeline } from './timeline.ts';
import type { ApiEvent, DeviceEvent, PowerEvent, TraceEvent } from './trace.ts';

export const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';
const PRESERVE_CORDONED = 'ha.k8s.io/preserve-cordoned';
const KUBE_NODE_LEASE = 'kube-node-lease';

/** Something that a controller did to a node, or to its workload, by the API. */
export interface ApiAction {
  position: number;
  at: number;
  node: string;
  what: string;
}

export interface PlacedEvent<E extends TraceEvent> {
  position: number;
  event: E;
}

/** A trace in order of time, with the questions that laws ask of it. */
export class History {
  readonly events: readonly TraceEvent[];
  readonly objects = new ObjectStates();
  readonly fences: readonly FenceHistory[];
  /** Acts that free a node's workload. */
  readonly releases: ApiAction[] = [];
  /** Nodes that we made unschedulable. */
  readonly cordons: ApiAction[] = [];
  readonly deviceEvents: PlacedEvent<DeviceEvent>[] = [];
  /** Sets that a BareMetalOperator asked for. */
  readonly foreignSets: PlacedEvent<DeviceEvent>[] = [];
  /** The same of devices that cut nodes off from their storage. */
  readonly storageEvents: PlacedEvent<DeviceEvent>[] = [];
  /** Sets that a device was asked for, whether or not it obeyed. */
  readonly sets: readonly PlacedEvent<DeviceEvent>[];
  /** Successful API calls of the controllers, reads too. */
  readonly controllerCalls: PlacedEvent<ApiEvent>[] = [];
  /** The controllers' own Lease. */
  readonly leadership = new Timeline<Lease>();
  readonly #power = new Map<string, Timeline<PowerEvent>>();
  readonly #lifeSigns = new Map<string, Timeline<ApiEvent>>();
  readonly #expectations: Expectations;

  constructor(trace: readonly TraceEvent[], expectations: Expectations) {
    this.#expectations = expectations;
    this.events = withForeignSets(trace);
    for (const [position, event] of this.events.entries()) {
      if (event.kind === 'api') this.#recordCall(position, event);
      else if (event.kind === 'device') this.#eventsLike(event).push({ position, event });
      else if (event.kind === 'power') timelineIn(this.#power, event.node).add(position, event.at, event);
    }
    this.sets = this.deviceEvents.filter(({ event }) => event.action === 'set');
    this.fences = fenceHistories(this.objects.every('nodefences.ha.k8s.io'));
  }

  /** True power just before `position`; a machine that was never seen off is on. */
  isPoweredOn(node: string, position: number): boolean {
    return this.#power.get(node)?.before(position)?.state !== 'off';
  }

  /** Off, and by a device's doing: not by a person who pulled the plug. */
  isLeftOff(node: string, position: number): boolean {
    const last = this.#power.get(node)?.before(position);
    return last?.state === 'off' && last.cause === 'set';
  }

  powerEdges(node: string, from: number, to: number): readonly PowerEvent[] {
    return (
      this.#power
        .get(node)
        ?.between(from, to)
        .map(({ value }) => value) ?? []
    );
  }

  /** Its kernel stopped, its power stayed on. */
  hasPanicked(node: string, from: number, to: number): boolean {
    return this.events.slice(from + 1, to).some((event) => event.kind === 'node' && event.node === node && event.what === 'panic');
  }

  /** What a node's kubelet wrote with success. */
  lifeSigns(node: string, from: number, to: number): readonly { position: number; at: number; value: ApiEvent }[] {
    return this.#lifeSigns.get(node)?.between(from, to) ?? [];
  }

  node(name: string, position: number): Node | undefined {
    return this.objects.of('nodes', name)?.before(position)?.object as Node | undefined;
  }

  terminatingPods(node: string, position: number): string[] {
    const pods = [...this.objects.standing('pods', position)] as Pod[];
    return pods.filter((pod) => pod.spec.nodeName === node && pod.metadata.deletionTimestamp !== undefined).map((pod) => pod.metadata.name);
  }

  volumeAttachments(node: string, position: number): string[] {
    const attachments = [...this.objects.standing('volumeattachments.storage.k8s.io', position)] as VolumeAttachment[];
    return attachments.filter(({ spec }) => spec.nodeName === node).map(({ metadata }) => metadata.name);
  }

  /** The fence of a node that stood just before `position`. */
  fenceOf(node: string, position: number): FenceHistory | undefined {
    return this.fences.find((fence) => fence.node === node && fence.createdPosition < position && position <= fence.deletedPosition);
  }

  incidentStart(fence: FenceHistory, position: number): number {
    return incidentStart(fence, position);
  }

  /** Intents of any fence under which this set may have been sent. */
  intentsFor({ position, event }: PlacedEvent<DeviceEvent>): Intent[] {
    const { isSameDevice } = this.#expectations;
    return this.fences.flatMap((fence) => {
      const intent = intentBefore(fence, position, (entry) => {
        const isSamePlug = entry.plug === event.plug || entry.plug === '' || event.plug === '';
        return (entry.action === event.want || entry.action === 'reboot') && isSamePlug && isSameDevice(entry.device, event.device);
      });
      return intent === undefined ? [] : [intent];
    });
  }

  /** Stops that stood at `position` for a node, with the time of their creation. */
  stopsFor(node: string, position: number): { name: string; createdAt: number }[] {
    const stops: { name: string; createdAt: number }[] = [];
    for (const [name, timeline] of this.objects.every('nodefencestops.ha.k8s.io')) {
      const stop = timeline.before(position)?.object as NodeFenceStop | undefined;
      if (stop === undefined || !(stop.spec.all === true || stop.spec.node === node)) continue;
      const created = timeline.entries.findLast((entry) => entry.position < position && entry.value.event.verb === 'create');
      stops.push({ name, createdAt: created?.at ?? 0 });
    }
    return stops;
  }

  isOurs(event: ApiEvent): boolean {
    return event.user === this.#expectations.controllerUser;
  }

  #eventsLike(event: DeviceEvent): PlacedEvent<DeviceEvent>[] {
    if (event.isForeign === true) return this.foreignSets;
    return event.storage === undefined ? this.deviceEvents : this.storageEvents;
  }

  #recordCall(position: number, event: ApiEvent): void {
    if (event.status >= 300 && !(event.verb === 'get' && event.status === 404)) return;
    const isWrite = event.verb === 'create' || event.verb === 'update' || event.verb === 'patch' || event.verb === 'delete';
    if (this.isOurs(event)) {
      this.controllerCalls.push({ position, event });
      this.#recordAction(position, event);
      if (isWrite) this.#recordLeadership(position, event);
    }
    if (!isWrite) return;
    this.objects.record(position, event);
    this.#recordLifeSign(position, event);
  }

  #recordAction(position: number, event: ApiEvent): void {
    const name = nameOf(event) ?? '*';
    const isCordon =
      event.resource === 'nodes' && isCordoned(event.object) && !isCordoned(this.node(name, position)) && !isCordonOfPreservation(event.object);
    if (isCordon) this.cordons.push({ position, at: event.at, node: name, what: `${name} was cordoned` });
    const act = this.#releaseBy(position, event);
    if (act !== undefined) this.releases.push({ position, at: event.at, ...act });
  }

  #releaseBy(position: number, event: ApiEvent): { node: string; what: string } | undefined {
    const name = nameOf(event) ?? '*';
    if (event.verb === 'deletecollection' && ['pods', 'nodes', 'volumeattachments.storage.k8s.io'].includes(event.resource)) {
      return { node: '*', what: `all ${event.resource} were deleted` };
    }
    if (event.resource === 'nodes') {
      if (event.verb === 'delete') return { node: name, what: `Node ${name} was deleted` };
      const isSet = hasOutOfService(event.object) && !hasOutOfService(this.node(name, position));
      return isSet ? { node: name, what: `the out-of-service taint was set on ${name}` } : undefined;
    }
    if (event.resource === 'pods') return this.#forceDeletionBy(position, event, name);
    if (event.verb !== 'delete' || event.resource !== 'volumeattachments.storage.k8s.io') return undefined;
    const attachment = (event.object ?? this.objects.of(event.resource, name)?.before(position)?.object) as VolumeAttachment | undefined;
    return { node: attachment?.spec.nodeName ?? '*', what: `VolumeAttachment ${name} was deleted` };
  }

  /** An eviction is a deletion, and one that gives the pod no time forgets it as a deletion does. */
  #forceDeletionBy(position: number, event: ApiEvent, name: string): { node: string; what: string } | undefined {
    const isEviction = event.verb === 'create' && event.subresource === 'eviction';
    if (event.verb !== 'delete' && !isEviction) return undefined;
    const before = this.objects.of('pods', name, event.namespace)?.before(position)?.object as Pod | undefined;
    // What an eviction answers is no pod.
    const pod = isEviction ? before : ((event.object as Pod | undefined) ?? before);
    if (pod?.spec.nodeName === undefined || gracePeriodOf(event, pod) !== 0) return undefined;
    return { node: pod.spec.nodeName, what: `pod ${name} was force-${isEviction ? 'evicted' : 'deleted'}` };
  }

  #recordLeadership(position: number, event: ApiEvent): void {
    const { leaseName } = this.#expectations;
    const isElection = event.resource === 'leases.coordination.k8s.io' && event.namespace !== KUBE_NODE_LEASE && event.object !== undefined;
    if (isElection && (leaseName === undefined || nameOf(event) === leaseName)) this.leadership.add(position, event.at, event.object as Lease);
  }

  #recordLifeSign(position: number, event: ApiEvent): void {
    const node = nameOf(event);
    if (node === undefined || event.user !== this.#expectations.kubeletUser(node)) return;
    const isRenewal = event.resource === 'leases.coordination.k8s.io' && event.namespace === KUBE_NODE_LEASE;
    if (isRenewal || event.resource === 'nodes') timelineIn(this.#lifeSigns, node).add(position, event.at, event);
  }
}

export function hasOutOfService(object: unknown): boolean {
  const node = object as Partial<Node> | undefined;
  return node?.spec?.taints?.some((taint) => taint.key === OUT_OF_SERVICE) === true;
}

function isCordoned(object: unknown): boolean {
  return (object as Partial<Node> | undefined)?.spec?.unschedulable === true;
}

/** No fence isolates by it: it keeps new pods from a machine that failed and is kept. */
function isCordonOfPreservation(object: unknown): boolean {
  return (object as Partial<Node> | undefined)?.metadata?.annotations?.[PRESERVE_CORDONED] !== undefined;
}

function timelineIn<T>(timelines: Map<string, Timeline<T>>, key: string): Timeline<T> {
  const timeline = timelines.get(key) ?? new Timeline<T>();
  timelines.set(key, timeline);
  return timeline;
}
