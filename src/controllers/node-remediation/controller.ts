import type { KubeObject } from '../../ports/objects.ts';
import type { NodeFenceRemediation, NodeFenceRemediationStatus } from '../../ports/remediation.ts';
import type { NodeFence } from '../../ports/resources.ts';
import { gatedWrites, unlessMoved } from '../shared/gated-cluster.ts';
import { Moved, wasOvertaken, wasRefused } from '../shared/moved.ts';
import { annotationsPatch } from '../shared/remediation/patch.ts';
import type { WorkloadClusters } from '../shared/remediation/place.ts';
import { WriteGate } from '../shared/write-gate.ts';
import type { Action, Decision } from './actions.ts';
import { decide } from './decide.ts';
import type { RemediationDependencies, WatchedKind } from './dependencies.ts';
import type { LeaseSights } from './node-removal.ts';
import { keyOf, observe } from './observe.ts';
import type { Sight } from './observe.ts';
import { perform } from './perform.ts';
import { readRequest } from './read-request.ts';
import type { RequestFacts } from './snapshot.ts';
import { remediationEvent } from './status.ts';
import { PhaseSight } from '../shared/phase-sight.ts';
import { decideTemplate } from './template.ts';

/** What this process remembers of a request: since when it has been as it is, and what was told of it. */
interface Known {
  phase: PhaseSight;
  problems: ReadonlySet<string>;
  /** What could not be read or written at the last look. */
  complaint?: string;
  /** The last look failed; nobody is told of one alone, which any API server has. */
  isMissed?: boolean;
}

/** A request that waits for nothing in particular is looked at so often: its Machine may be gone. */
const RELOOK_MS = 60_000;
/** Somebody else wrote first. */
const ANEW_MS = 500;
/** While its watches are silent. */
const UNHEARD_MS = 5_000;

/**
 * NodeFenceRemediation: observe, decide, write, one request at a time each. It keeps nothing that is not in the objects but its own first sights. Only the
 * leader looks; everything is read from the API's quorum, so that the watches only say when.
 */
export class RemediationController {
  readonly #dependencies: RemediationDependencies;
  readonly #known = new Map<string, Known>();
  readonly #leases: LeaseSights = new Map();
  /** uids of requests whose fence is being asked for: the watch does not show it yet. */
  readonly #asking = new Set<string>();
  readonly #unsubscribe: (() => void)[] = [];
  readonly #gate: WriteGate;

  constructor(dependencies: RemediationDependencies) {
    const { clock, leadership, kinds, fences, options } = dependencies;
    const watches = [fences, ...kinds.map(({ listers }) => listers.requests)];
    this.#gate = new WriteGate({ clock, leadership, enforce: () => options.enforce, watches: () => watches });
    const gate = gatedWrites(unlessMoved(() => this.#gate.mayWrite()));
    const workloadClusters: WorkloadClusters = async (secret) => {
      const found = await dependencies.workloadClusters(secret);
      return found && gate(found);
    };
    this.#dependencies = { ...dependencies, cluster: gate(dependencies.cluster), workloadClusters };
  }

  /** Follows the listers from now on, whether they are synced or not. */
  start(): void {
    const { kinds, fences, queue } = this.#dependencies;
    for (const { requests, templates, listers } of kinds) {
      this.#unsubscribe.push(
        listers.requests.onChange((before, after) => this.#seen(requests.kind, before, after)),
        listers.templates.onChange((_before, after) => {
          if (after !== undefined) queue.add(keyIn(templates.kind, after));
        }),
      );
    }
    this.#unsubscribe.push(
      fences.onChange((before, after) => {
        for (const fence of [before, after]) this.#wakeRequester(fence);
      }),
    );
    this.wake();
  }

  /** What is decided and not sent by now is not sent. */
  close(): void {
    this.#gate.close();
    for (const unsubscribe of this.#unsubscribe) unsubscribe();
  }

  /** Looks at everything: leadership has come. */
  wake(): void {
    const { kinds, queue } = this.#dependencies;
    for (const { requests, templates, listers } of kinds) {
      for (const each of listers.requests.all()) queue.add(keyIn(requests.kind, each));
      for (const each of listers.templates.all()) queue.add(keyIn(templates.kind, each));
    }
  }

  /** Standing problems of all requests, one sentence each. */
  problems(): string[] {
    const standing = [...this.#known.values()].flatMap(({ problems, complaint }) => [...problems, ...(complaint === undefined ? [] : [complaint])]);
    return [...new Set([...this.#gate.silence('remediation'), ...standing])].sort();
  }

  /** The work of one key of the queue. Rejects when the API server could not be asked. */
  async reconcile(key: string): Promise<{ afterMs: number } | undefined> {
    if (!this.#dependencies.leadership.isLeading) return undefined;
    if (this.#gate.isSilent) return { afterMs: UNHEARD_MS };
    const [kind = '', namespace = '', name = ''] = key.split(/[ /]/);
    for (const watched of this.#dependencies.kinds) {
      if (kind === watched.requests.kind) return this.#remediate(watched, key, namespace, name);
      if (kind === watched.templates.kind) return this.#markTemplate(watched, namespace, name);
    }
    return undefined;
  }

  async #remediate({ requests }: WatchedKind, key: string, namespace: string, name: string): Promise<{ afterMs: number } | undefined> {
    const { cluster } = this.#dependencies;
    const object = await cluster.get(requests, name, namespace);
    if (object === undefined) {
      this.#known.delete(key);
      this.#show();
      return undefined;
    }
    const identity = { apiVersion: `${requests.group}/${requests.version}`, kind: requests.kind };
    const phase = this.#phaseOf(key);
    const mark = markOf(object);
    const phaseSeenMs = phase.sinceMs(mark);
    try {
      const seen = await observe(this.#dependencies, object, identity, phaseSeenMs);
      if (seen.snapshot.lostNode === undefined) phase.heard();
      const request = { ...seen.snapshot.request, phaseSeenMs: phase.sinceMs(mark) };
      const sight = { ...seen, snapshot: { ...seen.snapshot, request } };
      // Counted in the turn in which it is decided and begun, so that two side by side do not both take the last place.
      const decision = decide({ ...sight.snapshot, inFlight: this.#inFlight(object) });
      this.#warn(key, decision.problems);
      const end = await this.#act(key, sight, decision);
      this.#missed(key, false);
      if (end !== 'refused') this.#complainNoMore(key);
      if (end === 'moved') return { afterMs: ANEW_MS };
      const dueMs = decision.nextDueMs === undefined ? RELOOK_MS : Math.min(RELOOK_MS, decision.nextDueMs - sight.snapshot.nowMs);
      // The fence of another cluster is not watched from here.
      const isFar = decision.actions.length > 0 && sight.place?.isOwn === false;
      return { afterMs: Math.max(0, isFar ? Math.min(dueMs, ANEW_MS) : dueMs) };
    } catch (error) {
      if (wasOvertaken(error)) return { afterMs: ANEW_MS };
      if (this.#hasMissedBefore(key)) this.#complain(key, readRequest(object, identity), error instanceof Error ? error.message : String(error));
      throw error;
    }
  }

  /** Does what was decided, in its order. moved: somebody else was there first, and it is to be decided anew. refused: something that may be was, and is told. */
  async #act(key: string, sight: Sight, { actions }: Decision): Promise<'done' | 'moved' | 'refused'> {
    let end: 'done' | 'refused' = 'done';
    for (const action of actions) {
      if (!this.#gate.mayWrite()) return end;
      const { metrics } = this.#dependencies;
      try {
        await this.#perform(sight, action);
        metrics.acted(action.kind, 'done');
      } catch (error) {
        metrics.acted(action.kind, error instanceof Moved || wasOvertaken(error) ? 'conflict' : 'failed');
        if (wasOvertaken(error)) return 'moved';
        if (action.kind === 'machine-conditions' && action.mayBeRefused === true && wasRefused(error)) {
          this.#complain(key, sight.snapshot.request, error.message);
          end = 'refused';
          continue;
        }
        if (!(error instanceof Moved)) throw error;
        this.#dependencies.log.debug('remediation decided again after a conflict', {
          object: sight.snapshot.request.name,
          action: action.kind,
          error,
        });
        // What has to wait for the node is not asked for again and again.
        return action.kind === 'delete-node' ? end : 'moved';
      }
    }
    return end;
  }

  async #perform(sight: Sight, action: Action): Promise<void> {
    const { uid } = sight.snapshot.request;
    if (action.kind === 'request-fence') this.#asking.add(uid);
    try {
      await perform(this.#dependencies, this.#leases, sight, action);
    } catch (error) {
      this.#asking.delete(uid);
      throw error;
    }
  }

  async #markTemplate({ templates }: WatchedKind, namespace: string, name: string): Promise<undefined> {
    const { cluster } = this.#dependencies;
    const object = await cluster.get(templates, name, namespace);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined;
    const target = { apiVersion: `${templates.group}/${templates.version}`, kind: templates.kind, name, namespace, uid: object.metadata.uid ?? '' };
    const action = decideTemplate(target, object.metadata.annotations ?? {});
    if (action !== undefined && this.#gate.mayWrite())
      await cluster.mergePatch(templates, name, annotationsPatch(object, action.changes), { namespace });
    return undefined;
  }

  /** Since when this process has seen it as it is. */
  #phaseOf(key: string): PhaseSight {
    const known = this.#known.get(key) ?? { phase: new PhaseSight(this.#dependencies.clock), problems: new Set() };
    this.#known.set(key, known);
    return known.phase;
  }

  /** Requests beside this one that have a fence under way, or are asking for one. */
  #inFlight(own: KubeObject): { count: number; limit?: number } {
    const { kinds, options } = this.#dependencies;
    const others = new Set(this.#asking);
    for (const { listers } of kinds) {
      for (const { metadata, status } of listers.requests.all()) {
        if (status?.phase === 'Fencing' || status?.phase === 'Recovering') others.add(metadata.uid ?? '');
      }
    }
    others.delete(own.metadata.uid ?? '');
    return { count: others.size, ...(options.inFlightMax !== undefined && { limit: options.inFlightMax }) };
  }

  #seen(kind: string, before: NodeFenceRemediation | undefined, after: NodeFenceRemediation | undefined): void {
    const { metadata, status } = (after ?? before) as NodeFenceRemediation;
    if (after === undefined || (status?.phase ?? '') !== '') this.#asking.delete(metadata.uid ?? '');
    this.#dependencies.queue.add(keyIn(kind, { metadata }));
  }

  #wakeRequester(fence: NodeFence | undefined): void {
    const by = fence?.spec.requestedBy;
    if (by !== undefined && this.#dependencies.kinds.some(({ requests }) => requests.kind === by.kind)) this.#dependencies.queue.add(keyOf(by));
  }

  /** It cannot be read, or what is decided cannot be written: told on the request too, for nothing else shows there. */
  #complain(key: string, request: Omit<RequestFacts, 'phaseSeenMs'>, message: string): void {
    const complaint = `${key}: ${message}`;
    const known = this.#known.get(key);
    if (known === undefined || known.complaint === complaint) return;
    const { type, reason, message: words } = remediationEvent(request.phase === '' ? 'CannotStart' : 'Stalled', message);
    const { apiVersion, kind, name, namespace, uid } = request;
    if (this.#gate.mayWrite()) this.#dependencies.recorder.event({ apiVersion, kind, metadata: { name, namespace, uid } }, type, reason, words);
    this.#dependencies.log.warn('remediation problem', { problem: complaint });
    this.#known.set(key, { ...known, complaint });
    this.#show();
  }

  #hasMissedBefore(key: string): boolean {
    const isSecond = this.#known.get(key)?.isMissed === true;
    this.#missed(key, true);
    return isSecond;
  }

  #missed(key: string, isMissed: boolean): void {
    const known = this.#known.get(key);
    if (known !== undefined) known.isMissed = isMissed;
  }

  #complainNoMore(key: string): void {
    const known = this.#known.get(key);
    if (known?.complaint === undefined) return;
    const { complaint: _over, ...rest } = known;
    this.#known.set(key, rest);
    this.#show();
  }

  #show(): void {
    const { metrics, kinds } = this.#dependencies;
    metrics.problems(this.problems().length);
    const counts: { [K in NonNullable<NodeFenceRemediationStatus['phase']> | 'Waiting']?: number } = {};
    for (const { listers } of kinds) {
      for (const { status } of listers.requests.all()) {
        const phase = status?.phase ?? 'Waiting';
        counts[phase] = (counts[phase] ?? 0) + 1;
      }
    }
    metrics.requests(counts);
  }

  /** Each problem is said once for as long as it stands. */
  #warn(key: string, problems: readonly string[]): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    for (const problem of problems) if (!known.problems.has(problem)) this.#dependencies.log.warn('remediation problem', { problem });
    this.#known.set(key, { ...known, problems: new Set(problems) });
    this.#show();
  }
}

function keyIn(kind: string, { metadata }: KubeObject): string {
  return keyOf({ kind, name: metadata.name, namespace: metadata.namespace ?? '' });
}

/** Another phase, another retry, or another request under its name. */
function markOf({ metadata, status }: NodeFenceRemediation): string {
  return [metadata.uid ?? '', status?.phase ?? '', status?.retryCount ?? 0, metadata.deletionTimestamp ?? ''].join(' ');
}
