import { observeConditions, viewOf } from '../../domain/remedy/conditions.ts';
import type { ObservedConditions, ObservedNode, RemedyClock, ThresholdView } from '../../domain/remedy/conditions.ts';
import type { Threshold } from '../../domain/remedy/configuration.ts';
import { isOfEpisode } from '../../domain/remedy/position.ts';
import type { RemedyDecision } from '../../domain/remedy/decide.ts';
import type { RemedyPosition, RemedyRun, RemedyState } from '../../domain/remedy/position.ts';
import type { RemedyRunRecord } from '../../ports/remedies.ts';
import { AskedPods } from '../shared/release/asked-pods.ts';
import type { RestoredRemedies } from './status.ts';

const RECORDS_MAX = 16;

/** What lets pods go, and the newest that stood there when it began, which is not known while they are counted. */
export type Going = Pick<RemedyPosition, 'episode' | 'serial' | 'podsUntil'>;

/** What the leader knows of one node: what is written down, and what this process saw first or began itself. */
export class NodeMemory {
  /** uid of the Node; one that is made anew under its name has a memory of its own. */
  readonly nodeUID: string | undefined;
  #observed: ObservedConditions | undefined;
  #states: ReadonlyMap<string, RemedyState> = new Map();
  #writtenAtMs: ReadonlyMap<string, number> = new Map();
  #runs: readonly RemedyRunRecord[] = [];
  #isRestored = false;
  #wroteAtMs = Number.NEGATIVE_INFINITY;
  /** Thresholds whose phase a predecessor wrote. */
  #inherited = new Set<string>();
  /** Ids of runs that this process began: they are never begun again, whatever is seen of them. */
  readonly #begun = new Set<string>();
  /** Ids of runs that this process ended. */
  readonly #ended = new Set<string>();
  /** Pods that stood there when each remedy that lets pods go began, by what names it. */
  readonly #standing = new Map<string, ReadonlySet<string | undefined>>();
  /** Pods of the node that were asked to go. */
  readonly asked = new AskedPods();

  constructor(nodeUID?: string) {
    this.nodeUID = nodeUID;
  }

  /** What is written down has been read: before that nothing is decided. */
  get isRestored(): boolean {
    return this.#isRestored;
  }

  get observed(): ObservedConditions | undefined {
    return this.#observed;
  }

  get states(): ReadonlyMap<string, RemedyState> {
    return this.#states;
  }

  /** When this process last wrote; monotonic. */
  get wroteAtMs(): number {
    return this.#wroteAtMs;
  }

  get runs(): readonly RemedyRunRecord[] {
    return this.#runs;
  }

  /** `isOwn`: this process wrote the phase of that threshold itself. */
  restore(written: RestoredRemedies, isOwn: (threshold: string) => boolean = () => false): void {
    // What this process has seen meanwhile it goes on seeing: periods only grow by that.
    const isKnown = Object.keys(written.observed.standings).length === 0 && this.#observed !== undefined;
    if (!isKnown) this.#observed = written.observed;
    this.#states = written.states;
    this.#writtenAtMs = written.writtenAtMs;
    this.#runs = written.runs;
    this.#inherited = new Set([...written.states.keys()].filter((threshold) => !isOwn(threshold)));
    this.#isRestored = true;
  }

  observe(node: ObservedNode, thresholds: readonly Threshold[], now: RemedyClock): void {
    this.#observed = observeConditions(this.#observed, node, thresholds, now);
  }

  /** Of a node of which nothing else has changed. */
  observeSome(node: ObservedNode, some: readonly Threshold[], now: RemedyClock): void {
    if (this.#observed === undefined || some.length === 0) return;
    const { standings } = observeConditions(this.#observed, node, some, now);
    this.#observed = { ...this.#observed, standings: { ...this.#observed.standings, ...standings } };
  }

  viewOf(threshold: Threshold, nowMs: number): ThresholdView {
    return this.#observed === undefined ? { phase: 'unsure' } : viewOf(this.#observed, threshold, nowMs);
  }

  /** What was decided stands written. */
  wrote(decisions: readonly RemedyDecision[], runs: readonly RemedyRunRecord[], now: { monotonicMs: number; wallMs: number }): void {
    this.#wroteAtMs = now.monotonicMs;
    const changed = decisions.filter(({ isChanged }) => isChanged).map(({ threshold }): [string, number] => [threshold, now.wallMs]);
    this.#states = new Map(decisions.flatMap(({ threshold, state }) => (state === undefined ? [] : [[threshold, state] as const])));
    this.#writtenAtMs = new Map([...this.#writtenAtMs, ...changed].filter(([threshold]) => this.#states.has(threshold)));
    for (const [threshold] of changed) this.#inherited.delete(threshold);
    this.#runs = runs.slice(-RECORDS_MAX);
    const isKept = (id: string): boolean => [...this.#states.values()].some(({ position }) => isOfEpisode(id, position));
    for (const ids of [this.#begun, this.#ended]) for (const id of ids) if (!isKept(id)) ids.delete(id);
    for (const id of this.#standing.keys()) if (!isKept(id)) this.#standing.delete(id);
  }

  /**
   * Which of these pods are to go. Who has seen them counted knows them; a new leader goes by the time that stands written, once: the clock of the API server may
   * be set back, and then who comes later seems to be older.
   */
  standing(
    { episode, serial, podsUntil }: Going,
    pods: readonly { uid: string | undefined; created: string | undefined }[],
  ): ReadonlySet<string | undefined> {
    const id = `${episode}-${serial}`;
    const known = podsUntil === undefined ? undefined : this.#standing.get(id);
    const stood = ({ created }: { created: string | undefined }): boolean =>
      podsUntil === undefined || created === undefined || Date.parse(created) <= Date.parse(podsUntil);
    const standing = known ?? new Set(pods.filter(stood).map(({ uid }) => uid));
    this.#standing.set(id, standing);
    return standing;
  }

  /** Since the phase of this threshold was written, by the clock that makes it longer. */
  ageMs(threshold: string, now: { monotonicMs: number; wallMs: number }): number {
    const sinceMs = this.#states.get(threshold)?.sinceMs ?? now.monotonicMs;
    return Math.max(now.monotonicMs - sinceMs, now.wallMs - (this.#writtenAtMs.get(threshold) ?? now.wallMs));
  }

  /** A predecessor wrote the phase of this threshold: what it did after that is not known. */
  isInherited(threshold: string): boolean {
    return this.#inherited.has(threshold);
  }

  begins({ id }: RemedyRun): void {
    this.#begun.add(id);
  }

  hasBegun({ id }: RemedyRun): boolean {
    return this.#begun.has(id);
  }

  ends({ id }: RemedyRun): void {
    this.#ended.add(id);
  }

  hasEnded({ id }: RemedyRun): boolean {
    return this.#ended.has(id);
  }
}
