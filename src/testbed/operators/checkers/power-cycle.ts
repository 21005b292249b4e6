import type { Resource } from '../../../ports/cluster.ts';
import type { KubeObject } from '../../../ports/objects.ts';
import type { NodeFenceRemediationTemplate } from '../../../ports/remediation.ts';
import { WorldApi } from '../../cluster/api.ts';
import type { WorldDependencies } from '../../cluster/dependencies.ts';
import { Loop } from '../../cluster/loop.ts';
import { Mirror } from '../../cluster/mirror.ts';
import type { Request } from './node-health-check.ts';

const GROUP = { group: 'remediation.example.io', version: 'v1', namespaced: true } as const;

/** A remediator that is not ours. */
export const POWER_CYCLES: Resource<Request> = { ...GROUP, kind: 'PowerCycle', plural: 'powercycles' };
export const POWER_CYCLE_TEMPLATES: Resource<NodeFenceRemediationTemplate> = {
  ...GROUP,
  kind: 'PowerCycleTemplate',
  plural: 'powercycletemplates',
};

const FINALIZER = 'remediation.example.io/power-cycle';

/** Somebody else's remediator: it has each node that is asked for switched off and on, once, by a way of its own. */
export class PowerCycling {
  readonly #api: WorldApi;
  readonly #requests: Mirror<Request>;
  readonly #loop: Loop;
  readonly #cycle: (request: Request) => Promise<void>;
  readonly #begun = new Set<string>();

  /** `cycle`: resolves when the node of the request is on again. */
  constructor(dependencies: WorldDependencies, cycle: (request: Request) => Promise<void>) {
    this.#api = new WorldApi(dependencies.transport);
    this.#cycle = cycle;
    this.#loop = new Loop(dependencies.clock, dependencies.random, () => this.#run());
    const poke = (): void => this.#loop.poke();
    this.#requests = new Mirror<Request>({ ...dependencies, resource: POWER_CYCLES, onChange: poke, onSync: poke });
  }

  start(): void {
    this.#requests.start();
  }

  stop(): void {
    this.#requests.stop();
    this.#loop.stop();
  }

  async #run(): Promise<undefined> {
    for (const request of [...this.#requests.all()]) await this.#serve(request);
  }

  async #serve(request: Request): Promise<void> {
    const { name, namespace, uid = '', deletionTimestamp, finalizers = [] } = request.metadata;
    const place = { name, namespace };
    if (deletionTimestamp !== undefined) {
      if (finalizers.includes(FINALIZER)) await this.#api.patch(POWER_CYCLES, place, 'merge', { metadata: { finalizers: null } });
      return;
    }
    if (this.#begun.has(uid)) return;
    this.#begun.add(uid);
    await this.#api.patch(POWER_CYCLES, place, 'merge', { metadata: { finalizers: [FINALIZER] } });
    await this.#tell(request, 'True', 'Unknown');
    await this.#cycle(request);
    await this.#tell(request, 'False', 'True');
  }

  async #tell({ metadata: { name, namespace } }: KubeObject, processing: string, succeeded: string): Promise<void> {
    const conditions = [
      { type: 'Processing', status: processing },
      { type: 'Succeeded', status: succeeded },
    ];
    await this.#api.patch(POWER_CYCLES, { name, namespace, subresource: 'status' }, 'merge', { status: { conditions } });
  }
}
