import type { ApiEvent, DeviceEvent, DiskEvent, TraceEvent } from '../../src/laws/trace.ts';
import { OPERATOR_USER } from './api.ts';
import { WORLD_BEGINS_WALL_MS } from '../../src/testbed/simulation/process-clock.ts';
import type { Kernel } from '../../src/testbed/simulation/kernel.ts';
import { TakeOvers } from './take-overs.ts';

/** A controller that makes more API calls than this in so much time turns in a circle, however little each does; of a large world each node has its share. */
const CALLS_MAX = 800;
const CALLS_PER_NODE_MAX = 30;
const CALLS_WINDOW_MS = 10_000;
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';

/** What the invariants must know of the world besides the events. */
export interface Truth {
  /** How many there are. */
  nodes: number;
  /** True power of a node's machine; `undefined` for a node without one. */
  power: (node: string) => 'on' | 'off' | undefined;
  isController: (user: string) => boolean;
  /** The controller process whose request is being answered. */
  caller: () => string;
  /** Where a pod is of which only `namespace/name` is told. */
  nodeOfPod?: (key: string) => string | undefined;
  /** Nodes that never fail: nothing is to be switched there. */
  isSound: (node: string) => boolean;
}

/**
 * The trace of one world: every event is stamped with the world's one clock, fingerprinted, kept for the judge, and looked at by the
 * invariants that are cheap enough for every event.
 */
export class WorldTrace {
  readonly events: TraceEvent[] = [];
  readonly takeOvers = new TakeOvers();
  readonly #kernel: Kernel;
  readonly #truth: Truth;
  /** By volume: who writes now. */
  readonly #writers = new Map<string, string>();
  /** `volume pod`: wrote once, and another began since. */
  readonly #replaced = new Set<string>();
  #windowStartMs = 0;
  #callsInWindow = 0;

  constructor(kernel: Kernel, truth: Truth) {
    this.#kernel = kernel;
    this.#truth = truth;
  }

  record(event: TraceEvent): void {
    const at = WORLD_BEGINS_WALL_MS + this.#kernel.nowMs;
    const stamped = event.at === at ? event : { ...event, at };
    this.events.push(stamped);
    this.#kernel.trace(lineOf(stamped));
    const violation = this.#violationOf(stamped);
    if (violation !== undefined) {
      this.#kernel.fail(`at ${this.#kernel.nowMs.toFixed(0)} ms: ${violation}`);
    }
  }

  #violationOf(event: TraceEvent): string | undefined {
    switch (event.kind) {
      case 'disk':
        return this.#secondWriter(event);
      case 'api':
        return this.#storm(event) ?? this.#releaseWhilePowered(event) ?? this.#called(event);
      case 'device':
        if (event.session === OPERATOR_USER) return undefined;
        return this.#setSound(event) ?? this.takeOvers.asked(event, this.#kernel.nowMs);
      default:
        return undefined;
    }
  }

  #called(event: ApiEvent): string | undefined {
    return this.#truth.isController(event.user) ? this.takeOvers.called(event, this.#truth.caller(), this.#kernel.nowMs) : undefined;
  }

  #setSound(event: DeviceEvent): string | undefined {
    return (event.action === 'set' || event.action === 'run') && this.#truth.isSound(event.node)
      ? `P10: ${event.device} was set ${event.want ?? ''}, whose node never failed`
      : undefined;
  }

  #secondWriter(event: DiskEvent): string | undefined {
    const present = this.#writers.get(event.volume);
    if (present !== undefined && present !== event.podUID) {
      this.#replaced.add(`${event.volume} ${present}`);
    }
    this.#writers.set(event.volume, event.podUID);
    return this.#replaced.has(`${event.volume} ${event.podUID}`)
      ? `two writers at once: ${event.podUID} on ${event.node} writes ${event.volume} again after another had begun`
      : undefined;
  }

  #storm(event: ApiEvent): string | undefined {
    if (!this.#truth.isController(event.user)) {
      return undefined;
    }
    if (this.#kernel.nowMs - this.#windowStartMs > CALLS_WINDOW_MS) {
      this.#windowStartMs = this.#kernel.nowMs;
      this.#callsInWindow = 0;
    }
    this.#callsInWindow += 1;
    const callsMax = Math.max(CALLS_MAX, CALLS_PER_NODE_MAX * this.#truth.nodes);
    return this.#callsInWindow === callsMax
      ? `the controllers made ${callsMax} API calls within ${CALLS_WINDOW_MS / 1000} s, the last: ${event.verb} ${event.resource}`
      : undefined;
  }

  #releaseWhilePowered(event: ApiEvent): string | undefined {
    if (event.status >= 300 || event.verb === 'get' || event.verb === 'watch' || event.verb === 'list' || !this.#truth.isController(event.user)) {
      return undefined;
    }
    const node = releasedNode(event, this.#truth.nodeOfPod);
    return node !== undefined && this.#truth.power(node) === 'on'
      ? `P1: ${event.verb} of ${event.resource} ${event.name ?? ''} frees node ${node}, which is powered on`
      : undefined;
  }
}

/** The node whose workload a successful write frees, if it is one that frees. */
export function releasedNode(event: ApiEvent, nodeOfPod?: Truth['nodeOfPod']): string | undefined {
  if (event.resource === 'nodes' && (event.verb === 'patch' || event.verb === 'update') && setsOutOfService(event.request)) {
    return event.name;
  }
  if (event.resource === 'pods' && event.verb === 'create' && event.subresource === 'eviction') {
    const { deleteOptions } = (event.request ?? {}) as { deleteOptions?: { gracePeriodSeconds?: number } };
    return deleteOptions?.gracePeriodSeconds === 0 ? nodeOfPod?.(`${event.namespace ?? ''}/${event.name ?? ''}`) : undefined;
  }
  if (event.verb !== 'delete') {
    return undefined;
  }
  const object = event.object as { spec?: { nodeName?: string } } | undefined;
  switch (event.resource) {
    case 'nodes':
      return event.name;
    case 'volumeattachments.storage.k8s.io':
      return object?.spec?.nodeName;
    case 'pods':
      return (event.request as { gracePeriodSeconds?: number } | undefined)?.gracePeriodSeconds === 0 ? object?.spec?.nodeName : undefined;
    default:
      return undefined;
  }
}

function setsOutOfService(request: unknown): boolean {
  const taints = (request as { spec?: { taints?: { key?: string }[] | null } } | undefined)?.spec?.taints ?? [];
  return taints.some((taint) => taint.key === OUT_OF_SERVICE);
}

/** One line for people and for the fingerprint. */
export function lineOf(event: TraceEvent): string {
  switch (event.kind) {
    case 'device':
      return `device ${event.device} ${event.action}${event.want === undefined ? '' : ` ${event.want}`} -> ${event.answer} (${event.session})`;
    case 'power':
      return `power ${event.node} ${event.state} by ${event.cause}`;
    case 'api':
      return apiLine(event);
    case 'disk':
      return `disk ${event.volume} ${event.counter} by ${event.podUID} on ${event.node}`;
    case 'node':
      return `node ${event.node} ${event.what}${event.pod === undefined ? '' : ` ${event.pod}`}${event.bootID === undefined ? '' : ` boot ${event.bootID}`}`;
    case 'controller':
      return `controller ${event.id} ${event.what}`;
    case 'fault':
      return `fault ${event.fault} ${event.node}`;
    case 'dump':
      return `dump of ${event.node} heard by ${event.session}`;
    case 'operator':
      return `operator ${event.device} ${event.want} -> ${event.answer}`;
  }
}

function apiLine(event: ApiEvent): string {
  const path = [event.resource, event.subresource, event.namespace, event.name].filter((part) => part !== undefined && part !== '').join('/');
  const object = event.object as { metadata?: { resourceVersion?: string }; status?: unknown } | undefined;
  const version = object?.metadata?.resourceVersion;
  const fence = event.resource === 'nodefences.ha.k8s.io' && event.verb !== 'get' ? ` ${fenceLine(object?.status)}` : '';
  return `api ${event.user} ${event.verb} ${path} ${event.status}${version === undefined ? '' : ` rv ${version}`}${fence}`;
}

function fenceLine(status: unknown): string {
  const fence = status as { state?: string; step?: string; message?: string; journal?: { operation: string; result?: string }[] } | undefined;
  const last = fence?.journal?.at(-1);
  const run = last === undefined ? '' : ` ${last.operation}=${last.result ?? 'open'}`;
  return `[${fence?.state ?? '-'} ${fence?.step ?? '-'}${run}] ${fence?.message ?? ''}`;
}
