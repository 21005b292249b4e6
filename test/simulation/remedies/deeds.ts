import type { ApiClient } from '../../../src/kube/client.ts';
import type { Resource } from '../../../src/ports/cluster.ts';
import type { KubeObject, Node } from '../../../src/ports/objects.ts';
import { NODE_FENCE_REPORTS, NODE_FENCE_STOPS, NODE_FENCES, NODES } from '../../../src/ports/resources.ts';
import type { KernelView } from '../../../src/testbed/simulation/kernel-view.ts';
import { FENCE_NAMESPACE } from '../configuration.ts';
import { writeRemedies } from './configuration.ts';
import type { Monitor, Posted, RemedyDeed, RemedyWorld } from './remedy-world.ts';

const JOBS: Resource<KubeObject & { status?: { conditions?: { type: string }[] } }> = {
  ...{ group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs', namespaced: true },
};
const PODS: Resource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const BUDGETS: Resource<KubeObject & { spec: object }> = {
  ...{ group: 'policy', version: 'v1', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', namespaced: true },
};
const BUDGET = 'nothing-may-go';
/** A third of the shortest time after which a condition that is not renewed says nothing. */
const RENEWED_MS = 13_000;

export interface RemedyDeedsOptions {
  kernel: Pick<KernelView, 'schedule' | 'trace'>;
  admin: ApiClient;
  wallMs: () => number;
  world: RemedyWorld;
}

/** Monitors that post conditions, and people who stop, resume, cordon, delete and configure, each at one instant and without fault: only their timing is bad. */
export class RemedyDeeds {
  readonly #options: RemedyDeedsOptions;
  /** Numbers of the budgets and stops that stand, each of which ends by itself. */
  readonly #standing = new Map<string, number>();

  constructor(options: RemedyDeedsOptions) {
    this.#options = options;
  }

  schedule(): void {
    const { world } = this.#options;
    for (const monitor of world.monitors) this.#watchOver(monitor);
    for (const deed of world.deeds) {
      this.#later(deed.atMs, wordsOf(deed), () => this.#begin(deed));
      if (deed.durationMs > 0) this.#later(deed.atMs + deed.durationMs, `the end of: ${wordsOf(deed)}`, () => this.#end(deed));
    }
  }

  #watchOver({ node, condition, says, stills }: Monitor): void {
    let last: Posted | undefined;
    const { kernel, wallMs } = this.#options;
    const startedMs = wallMs();
    const isStill = (): boolean => stills.some(({ fromMs, toMs }) => wallMs() - startedMs >= fromMs && wallMs() - startedMs < toMs);
    const post = (status: Posted): void => {
      last = status;
      if (!isStill()) void this.#post(node, condition, status);
    };
    for (const { atMs, status } of says) {
      kernel.schedule(atMs, () => {
        kernel.trace(`a monitor says ${condition}=${status} of ${node}${isStill() ? ', and stands still' : ''}`);
        post(status);
      });
    }
    const renew = (): void => {
      if (last !== undefined) post(last);
      kernel.schedule(RENEWED_MS, renew);
    };
    kernel.schedule(says[0]?.atMs ?? 0, renew);
  }

  async #post(node: string, type: string, status: Posted): Promise<void> {
    const { admin, wallMs } = this.#options;
    const found = await admin.get(NODES, node);
    if (found === undefined) return;
    const now = new Date(wallMs()).toISOString();
    const others = (found.status.conditions ?? []).filter((condition) => condition.type !== type);
    const before = found.status.conditions?.find((condition) => condition.type === type);
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : now;
    const said = { type, status, reason: 'Monitored', message: '', lastHeartbeatTime: now, lastTransitionTime };
    const conditions = status === 'gone' ? others : [...others, said];
    await admin.mergePatch(NODES, node, { status: { conditions } }, { subresource: 'status' });
  }

  async #begin(deed: RemedyDeed): Promise<void> {
    const { admin, world } = this.#options;
    switch (deed.what) {
      case 'stop':
        return this.#raise(stopName(deed.node), async (name) => {
          const scope = deed.node === undefined ? { all: true } : { node: deed.node };
          await admin.create(NODE_FENCE_STOPS, { metadata: { name }, spec: { ...scope, reason: 'somebody works on it' } });
        });
      case 'budget':
        return this.#raise(BUDGET, async (name) => {
          await admin.create(BUDGETS, { metadata: { name, namespace: 'default' }, spec: { maxUnavailable: 0, selector: {} } });
        });
      case 'resume':
        return this.#resume();
      case 'cordon':
        if (deed.how === 'again') await this.#cordon(deed.node, false);
        return this.#cordon(deed.node, true);
      case 'delete-fence':
        await admin.remove(NODE_FENCES, `node-fence-${deed.node}`);
        return undefined;
      case 'delete-jobs':
        for (const { metadata } of await admin.list(JOBS, { namespace: FENCE_NAMESPACE }))
          await admin.remove(JOBS, metadata.name, { namespace: FENCE_NAMESPACE, propagationPolicy: 'Background' });
        return undefined;
      case 'delete-pods':
        for (const { metadata } of await admin.list(PODS, { namespace: FENCE_NAMESPACE }))
          await admin.remove(PODS, metadata.name, { namespace: FENCE_NAMESPACE });
        return undefined;
      case 'configure':
        return writeRemedies(admin, world, deed.how);
    }
  }

  async #end(deed: RemedyDeed): Promise<void> {
    const { admin, world } = this.#options;
    switch (deed.what) {
      case 'stop':
        return this.#lower(stopName(deed.node), (name) => admin.remove(NODE_FENCE_STOPS, name));
      case 'budget':
        return this.#lower(BUDGET, (name) => admin.remove(BUDGETS, name, { namespace: 'default' }));
      case 'cordon':
        return this.#cordon(deed.node, false);
      case 'configure':
        return writeRemedies(admin, world, 'right');
      default:
    }
  }

  /** As `nodefence resume` does: of the trouble that is handed over now. */
  async #resume(): Promise<void> {
    const { admin } = this.#options;
    for (const { metadata, status } of await admin.list(NODE_FENCE_REPORTS)) {
      const handed = (status?.remedies?.positions ?? []).filter(({ phase }) => phase === 'handed-over');
      const resumedRemedies = handed.map(({ threshold, episode }) => ({ threshold, episode, reason: 'somebody has looked at it' }));
      if (handed.length > 0) await admin.mergePatch(NODE_FENCE_REPORTS, metadata.name, { spec: { resumedRemedies } });
    }
  }

  async #cordon(name: string, isCordoned: boolean): Promise<void> {
    const { admin } = this.#options;
    const node: Node | undefined = await admin.get(NODES, name);
    if (node === undefined || (node.spec.unschedulable === true) === isCordoned) return;
    await admin.mergePatch(NODES, name, { spec: { unschedulable: isCordoned ? true : null } });
  }

  async #raise(name: string, raise: (name: string) => Promise<void>): Promise<void> {
    const count = this.#standing.get(name) ?? 0;
    this.#standing.set(name, count + 1);
    if (count === 0) await raise(name);
  }

  async #lower(name: string, lower: (name: string) => Promise<unknown>): Promise<void> {
    const count = (this.#standing.get(name) ?? 1) - 1;
    this.#standing.set(name, count);
    if (count === 0) await lower(name);
  }

  #later(atMs: number, words: string, task: () => Promise<void>): void {
    const { kernel } = this.#options;
    kernel.schedule(atMs, () => {
      kernel.trace(words);
      void task();
    });
  }
}

/** Other than those of the disturbances: each is taken away by whoever made it. */
function stopName(node: string | undefined): string {
  return node === undefined ? 'remedies-by-hand' : `remedies-by-hand-${node}`;
}

export function wordsOf(deed: RemedyDeed): string {
  switch (deed.what) {
    case 'stop':
      return `a person stops ${deed.node ?? 'everything'}`;
    case 'resume':
      return 'a person resumes what asks for one';
    case 'cordon':
      return `a person cordons ${deed.node} ${deed.how}`;
    case 'delete-fence':
      return `a person deletes the NodeFence of ${deed.node}`;
    case 'delete-jobs':
      return 'a person deletes all Jobs';
    case 'delete-pods':
      return 'a person deletes all pods of Jobs';
    case 'budget':
      return 'a budget keeps every pod';
    case 'configure':
      return `the remedies are ${deed.how}`;
  }
}
