import { fenceName } from '../../../src/domain/node-fence.ts';
import type { ApiEvent } from '../../../src/laws/trace.ts';
import type { ApiTransport } from '../../../src/ports/api-transport.ts';
import type { Resource } from '../../../src/ports/cluster.ts';
import type { KubeObject } from '../../../src/ports/objects.ts';
import { NODE_FENCES, NODES } from '../../../src/ports/resources.ts';
import type { Trace } from '../../../src/testbed/cluster/dependencies.ts';
import { JobController } from '../../../src/testbed/cluster/jobs/job-controller.ts';
import type { Kernel } from '../../../src/testbed/simulation/kernel.ts';
import { WORLD_BEGINS_WALL_MS } from '../../../src/testbed/simulation/process-clock.ts';
import type { SimulatedProcess } from '../../../src/testbed/simulation/simulated-process.ts';
import type { SimulatedApi } from '../api.ts';
import { FENCE_NAMESPACE } from '../configuration.ts';
import type { FenceWatch } from '../fence-watch.ts';
import { writeRemedies } from './configuration.ts';
import { RemedyDeeds } from './deeds.ts';
import { Positions } from './positions.ts';
import { CORDON_MARK, episodeOf, hasEnded, isClaim, toldOf } from './remedy-events.ts';
import type { SeenFence, SeenJob } from './remedy-events.ts';
import type { Scenario } from '../scenario.ts';
import type { RemedyWorld } from './remedy-world.ts';

const JOBS: Resource<KubeObject & SeenJob> = { group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs', namespaced: true };

export interface RemediesOptions {
  kernel: Kernel;
  api: SimulatedApi;
  fence: FenceWatch;
  isReady: (node: string) => boolean;
  /** It takes new pods. */
  isOpen: (node: string) => boolean;
  trace: Trace;
  insider: (name: string, user: string) => [SimulatedProcess, ApiTransport];
}

/** What there is in a world for remedies: their Configuration, monitors, people, the controller of Jobs; and where they stand. */
export class RemediesOfWorld {
  readonly #options: RemediesOptions;
  /** Absent: there are none in this world. */
  readonly #remedies: RemedyWorld | undefined;
  readonly #positions: Positions;

  constructor({ remedies, nodes }: Pick<Scenario, 'remedies' | 'nodes'>, options: RemediesOptions) {
    this.#options = options;
    this.#remedies = remedies;
    const { kernel, isReady, isOpen, fence } = options;
    const isFenced = (node: string): boolean => ![undefined, 'final'].includes(fence.of(fenceName(node))?.state);
    const areAllReady = (): boolean => nodes.every(isReady);
    const areOthersOpen = (node: string): boolean => nodes.every((other) => other === node || isOpen(other));
    this.#positions = new Positions({ nowMs: () => kernel.nowMs, isReady, areAllReady, areOthersOpen, isFenced });
  }

  /** Without time passing. */
  async install(): Promise<void> {
    if (this.#remedies !== undefined) await writeRemedies(this.#options.api.admin, this.#remedies, 'right');
  }

  start(): void {
    if (this.#remedies === undefined) return;
    const { kernel, api, insider, trace } = this.#options;
    const [process, transport] = insider('job-controller', 'system:kube-controller-manager');
    new JobController({ transport, clock: process.clock, random: process.random, trace }).start();
    new RemedyDeeds({ kernel, admin: api.admin, wallMs: () => WORLD_BEGINS_WALL_MS + kernel.nowMs, world: this.#remedies }).schedule();
  }

  /** Returns what is broken, in words. */
  hear(event: ApiEvent): string | undefined {
    return this.#remedies === undefined ? undefined : this.#positions.hear(event);
  }

  /** Then they may have let its pods go. */
  hasPositions(node: string): boolean {
    return this.#positions.of(node).length > 0;
  }

  /** Positions of which more is to be expected, each in words. */
  open(): string[] {
    return this.#positions.open();
  }

  /** What is left behind when nothing more is to be expected: requests, Jobs and cordons of remedies that nobody waits for. */
  async left(): Promise<string[]> {
    if (this.#remedies === undefined) return [];
    return [...(await this.#claimsLeft()), ...(await this.#jobsLeft()), ...(await this.#cordonsLeft(this.#remedies))];
  }

  async #claimsLeft(): Promise<string[]> {
    const fences = (await this.#options.api.admin.list(NODE_FENCES)) as unknown as SeenFence[];
    return fences.filter(isClaim).flatMap(({ metadata, spec, status }) => {
      const uid = spec.requestedBy?.uid;
      // One that is final, and was asked for by the same request, asks for nothing more.
      const isOver = status?.state === 'final' && status.trigger?.requestUID === uid;
      const standing = this.#positions.of(spec.node).filter(({ phase }) => phase !== 'recovered');
      const owner = episodeOf(
        uid,
        standing.map(({ episode }) => episode),
      );
      return owner !== undefined || isOver ? [] : [`${metadata.name} is asked for by ${uid ?? ''}, a remedy that stands nowhere`];
    });
  }

  async #jobsLeft(): Promise<string[]> {
    const jobs = await this.#options.api.admin.list(JOBS, { namespace: FENCE_NAMESPACE });
    return jobs.flatMap((job) => {
      const node = toldOf(job, 'NODE_NAME');
      const isWaitedFor = this.#positions.of(node).some(({ run, phase }) => run !== undefined && ['starting', 'running', 'fenced'].includes(phase));
      return hasEnded(job) || isWaitedFor ? [] : [`Job ${job.metadata.name} runs, and no remedy of ${node} waits for it`];
    });
  }

  /** A cordon stays where its remedy is not over, where no recovery takes it back, and where its threshold was configured away. */
  async #cordonsLeft(remedies: RemedyWorld): Promise<string[]> {
    const { api } = this.#options;
    if (remedies.deeds.some(({ what }) => what === 'configure')) return [];
    const nodes = await api.admin.list(NODES);
    return nodes.flatMap(({ metadata, spec }) => {
      const mark = metadata.annotations?.[CORDON_MARK];
      if (mark === undefined) return [];
      const episode = episodeOf(mark, this.#positions.episodes.keys()) ?? '';
      const isStanding = this.#positions.of(metadata.name).some((position) => position.episode === episode && position.phase !== 'recovered');
      const threshold = this.#positions.episodes.get(episode) ?? '';
      const drawn = remedies.thresholds.find(
        ({ condition, status }) => threshold.startsWith(condition) && threshold.includes('=') === (typeof status === 'string'),
      );
      if (isStanding || (drawn !== undefined && drawn.recovery !== 'uncordon')) return [];
      const state = spec.unschedulable === true ? 'cordoned' : 'marked as cordoned';
      return [`node ${metadata.name} is ${state} by ${mark}, a remedy of ${threshold} that stands nowhere`];
    });
  }
}
