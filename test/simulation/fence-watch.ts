import type { JournalEntry, NodeFenceStatus } from '../../src/domain/node-fence.ts';
import type { ApiEvent } from '../../src/laws/trace.ts';
import type { ObjectMeta } from '../../src/ports/objects.ts';

const FENCES = 'nodefences.ha.k8s.io';
/** Of a fence that goes on without a release. */
const NOT_RELEASED = 'Its workload is not ';

/** What switches a machine, be it on for a fence that was withdrawn, or lets its pods go, or gives a person's word for it. */
const FENCING: ReadonlySet<string> = new Set(['off', 'on', 'release', 'acknowledge']);
/** All else that runs on a node, or beside it, is more than a cordon. */
const CORDONS: ReadonlySet<string> = new Set(['cordon', 'uncordon']);
const UNSENT: ReadonlySet<string | undefined> = new Set([undefined, 'not-sent', 'stopped', 'found-not-done']);

/** The fences of a world as the API server stored them last, seen from outside. */
export class FenceWatch {
  readonly #now: () => number;
  readonly #fences = new Map<string, NodeFenceStatus | undefined>();
  /** Numbers of the incidents in which more than a cordon was done, by fence. */
  readonly #fencings = new Map<string, Set<number>>();
  readonly #toldUnreleased = new Set<string>();
  /** A person deleted them, and they stay for what is still to be done. */
  readonly #withdrawn = new Set<string>();
  /** As each was written last. */
  readonly #steps = new Map<string, string>();
  #changedAtMs = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  hear(event: ApiEvent): void {
    if (
      event.resource !== FENCES ||
      event.status >= 300 ||
      event.name === undefined ||
      event.verb === 'get' ||
      event.verb === 'list' ||
      event.verb === 'watch'
    ) {
      return;
    }
    const { metadata, spec, status: after } = (event.object ?? {}) as { metadata?: ObjectMeta; spec?: object; status?: NodeFenceStatus };
    const step = JSON.stringify([event.verb === 'delete', metadata?.uid, metadata?.deletionTimestamp, spec, withoutBesides(after)]);
    if (this.#steps.get(event.name) !== step) this.#changedAtMs = this.#now();
    this.#steps.set(event.name, step);
    const isDeleted = event.verb === 'delete' || metadata?.deletionTimestamp !== undefined;
    if (isDeleted && (metadata?.finalizers ?? []).length === 0) {
      this.#countWithdrawn(event.name, this.#fences.get(event.name) ?? {});
      this.#fences.delete(event.name);
      this.#withdrawn.delete(event.name);
      return;
    }
    if (isDeleted) this.#withdrawn.add(event.name);
    else this.#withdrawn.delete(event.name);
    this.#fences.set(event.name, after);
    this.#count(event.name, after);
    if (after?.message?.includes(NOT_RELEASED) === true) this.#toldUnreleased.add(event.name);
  }

  /** Nodes that have or had a fence, by the fence's name. */
  get names(): readonly string[] {
    return [...this.#fences.keys()];
  }

  /** In how many incidents it did more than cordon its node. */
  fencesOf(name: string): number {
    return this.#fencings.get(name)?.size ?? 0;
  }

  of(name: string): NodeFenceStatus | undefined {
    return this.#fences.get(name);
  }

  /** It was deleted, and has not gone yet. */
  isWithdrawn(name: string): boolean {
    return this.#withdrawn.has(name);
  }

  /** It says what holds it, or said at some time that its machine is switched on without its workload let go. */
  saysWhatHeld(name: string): boolean {
    const hold = this.#fences.get(name)?.hold;
    return this.#toldUnreleased.has(name) || (hold !== undefined && hold.policy !== 'stop');
  }

  /** When a fence was written last. */
  get changedAtMs(): number {
    return this.#changedAtMs;
  }

  #count(name: string, status: NodeFenceStatus | undefined): void {
    // What has just been created has no journal yet, whatever its type says.
    const { journal = [], incident }: Partial<NodeFenceStatus> = status ?? {};
    if (incident === undefined || !journal.some((entry) => isFencing(entry) && !UNSENT.has(entry.result))) return;
    this.#countIncident(name, incident);
  }

  /** What came of the on of a withdrawn fence is not written any more: its object goes with it. */
  #countWithdrawn(name: string, { journal = [], incident }: Partial<NodeFenceStatus>): void {
    if (incident === undefined || !journal.some(({ action, result }) => action === 'on' && result === undefined)) return;
    this.#countIncident(name, incident);
  }

  #countIncident(name: string, incident: number): void {
    this.#fencings.set(name, (this.#fencings.get(name) ?? new Set()).add(incident));
  }
}

function isFencing({ action, agent }: JournalEntry): boolean {
  return FENCING.has(action) || (action === 'run' && !CORDONS.has(agent));
}

/** What holds it besides comes and goes for ever where watches do, and is no step of it. */
function withoutBesides(status: NodeFenceStatus | undefined): object {
  const { reason, policy } = status?.hold ?? {};
  return { ...status, hold: status?.hold && { reason, policy } };
}
