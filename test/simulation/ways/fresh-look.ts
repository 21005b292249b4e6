import { fenceName } from '../../../src/domain/node-fence.ts';
import type { JournalEntry, NodeFenceStatus } from '../../../src/domain/node-fence.ts';
import type { ApiEvent, DeviceEvent } from '../../../src/laws/trace.ts';
import type { Node } from '../../../src/ports/objects.ts';

/** Of triggers: what is done to a Ready node too. */
const ASKED_FOR: ReadonlySet<string> = new Set(['person', 'remediation']);
/** Of fast detection: while Kubernetes still counts a node as Ready, its devices read off, or its kubelet was not heard for so long, by a clock that runs fast. */
const SILENT_MS = 15_000 / 1.011;

interface Look {
  atMs: number;
  ready: string;
  uid: string | undefined;
}

const NO_NODE = { ready: 'missing', uid: undefined };

interface Known {
  of: (name: string) => NodeFenceStatus | undefined;
}

/**
 * P10 at everything by which a living machine first goes down or loses its storage: its sender has read the Node since the intent was written, and the API server
 * said then that it is the same Node, and not Ready: a kubelet may say the next moment that it is Ready, and whoever waits for a watch may wait for ever. What was begun is carried through, and what somebody asked for is done to a Ready node too.
 * So it is where its daemon is silent (fast detection): Kubernetes has not noticed yet. Then the Lease was read too, and nothing shows that the machine lives.
 */
export class FreshLook {
  readonly #fence: Known;
  /** As the API server has them. */
  readonly #nodes = new Map<string, Omit<Look, 'atMs'>>();
  /** By process and node: what it read last. */
  readonly #looks = new Map<string, Look>();
  /** The same of the Lease of its kubelet. */
  readonly #leaseLooksAtMs = new Map<string, number>();
  /** By node: when its kubelet last wrote its Node or its Lease. */
  readonly #livedAtMs = new Map<string, number>();
  /** By process and device: what that showed it last. */
  readonly #shown = new Map<string, DeviceEvent['shown']>();
  /** By the id of an intent: when it first stood written. */
  readonly #writtenAtMs = new Map<string, number>();
  /** Intents that were over when their own leader, or its successor, had written that. */
  readonly #closed = new Set<string>();
  /** Attempts in which an off was sent to the machine, and runs in which a program was begun. */
  readonly #begun = new Set<string>();

  constructor(fence: Known) {
    this.#fence = fence;
  }

  /** A request was answered; `process` made it, where it is a controller's. */
  heard(event: ApiEvent, process: string | undefined, nowMs: number): void {
    if (event.resource === 'nodes' && event.name !== undefined && event.status < 300 && event.object !== undefined) {
      const { metadata, status } = event.object as Node;
      const ready = status.conditions?.find(({ type }) => type === 'Ready')?.status ?? 'missing';
      if (event.verb === 'delete') this.#nodes.delete(event.name);
      else this.#nodes.set(event.name, { ready, uid: metadata.uid });
    }
    if (process !== undefined && event.resource === 'nodes' && event.verb === 'get' && event.name !== undefined && isAnswer(event.status))
      this.#looks.set(`${process} ${event.name}`, { atMs: nowMs, ...(this.#nodes.get(event.name) ?? NO_NODE) });
    this.#noteLife(event, process, nowMs);
    if (event.resource !== 'nodefences.ha.k8s.io' || event.status >= 300) return;
    const { spec, status } = (event.object ?? {}) as { spec?: { node?: string }; status?: Partial<NodeFenceStatus> };
    for (const entry of status?.journal ?? []) this.#noteEntry(entry, spec?.node ?? '', status ?? {}, nowMs);
  }

  #noteLife({ resource, namespace, name = '', user, verb, status }: ApiEvent, process: string | undefined, nowMs: number): void {
    const isLease = resource === 'leases.coordination.k8s.io' && namespace === 'kube-node-lease';
    if (!isLease && resource !== 'nodes') return;
    if (isLease && process !== undefined && verb === 'get' && isAnswer(status)) this.#leaseLooksAtMs.set(`${process} ${name}`, nowMs);
    if (user === `system:node:${name}` && verb !== 'get' && status < 300) this.#livedAtMs.set(name, nowMs);
  }

  /** Of an off that stood open when its leader ended nobody can tell whether it was sent: its successor has to carry it through. */
  #noteEntry({ id, action, step, epoch, finishedAt }: JournalEntry, node: string, status: Partial<NodeFenceStatus>, nowMs: number): void {
    if (finishedAt === undefined && !this.#writtenAtMs.has(id)) this.#writtenAtMs.set(id, nowMs);
    const isOrphan = action === 'off' && step === 'power-management' && epoch < (status.epoch ?? epoch) && !this.#closed.has(id);
    if (isOrphan) this.#begun.add(attemptOf(node, status));
    if (finishedAt !== undefined) this.#closed.add(id);
  }

  /** What is broken by this request of a device, in words. */
  asked(event: DeviceEvent, nowMs: number): string | undefined {
    if (event.action === 'read') this.#shown.set(`${event.session} ${event.device}`, event.shown);
    const isCut = event.action === 'run' || (event.action === 'set' && event.want === 'off');
    const status = this.#fence.of(fenceName(event.node));
    if (!isCut || status === undefined) return undefined;
    const entry = status.journal.findLast((one) => one.device === event.device && isOf(one, event) && one.finishedAt === undefined);
    if (entry === undefined || entry.step === 'recovery') return undefined;
    const attempt = attemptOf(event.node, status);
    const isCarriedThrough = this.#begun.has(attempt) || (event.action === 'run' && this.#begun.has(`${attempt} ${entry.operation}`));
    if (event.action === 'run') this.#begun.add(`${attempt} ${entry.operation}`);
    else if (entry.step === 'power-management') this.#begun.add(attempt);
    // What writes to storage that was taken from it has moved: only another boot gives it back, Ready or not.
    const isBound = status.storageRelease !== undefined;
    if (isCarriedThrough || isBound || ASKED_FOR.has(status.trigger?.kind ?? '')) return undefined;
    const what = `P10: ${event.session} ${event.action === 'run' ? 'began the program on' : 'set off'} ${event.device}`;
    const look = this.#looks.get(`${event.session} ${event.node}`);
    if (look === undefined || look.atMs < (this.#writtenAtMs.get(entry.id) ?? 0)) return `${what}, but had not read its Node since that was intended`;
    const life = look.ready === 'True' ? this.#lifeOf(event, status, entry, nowMs) : undefined;
    if (life !== undefined) return `${what}, but had read that its Node is Ready${life}`;
    return look.uid === status.frozen?.nodeUID ? undefined : `${what}, but had read that its Node is gone, or another`;
  }

  /** Why a Node that is Ready lives, in words; `undefined`: its daemon is silent, and nothing shows that it does. */
  #lifeOf({ session, node, device }: DeviceEvent, { trigger }: NodeFenceStatus, { id }: JournalEntry, nowMs: number): string | undefined {
    if (trigger?.kind !== 'heartbeat') return '';
    if ((this.#leaseLooksAtMs.get(`${session} ${node}`) ?? -1) < (this.#writtenAtMs.get(id) ?? 0))
      return ', and not its Lease since that was intended';
    if (this.#shown.get(`${session} ${device}`) === 'off') return undefined;
    const silentMs = nowMs - (this.#livedAtMs.get(node) ?? Number.NEGATIVE_INFINITY);
    return silentMs >= SILENT_MS ? undefined : `, its device had not read off, and its kubelet was heard ${silentMs.toFixed(0)} ms before`;
  }
}

function attemptOf(node: string, { incident, restarts }: Partial<NodeFenceStatus>): string {
  return `${node} ${incident ?? 0}/${restarts ?? 0}`;
}

function isAnswer(status: number): boolean {
  return status < 300 || status === 404;
}

function isOf(entry: JournalEntry, event: DeviceEvent): boolean {
  return event.action === 'run' ? entry.action === 'run' : entry.action === 'off' || entry.action === 'reboot' || entry.action === 'delete';
}
