import type { Clock } from '../../../ports/clock.ts';
import type { Resource } from '../../../ports/cluster.ts';
import type { KubeObject, Lease, Node } from '../../../ports/objects.ts';
import type { NodeFenceRemediation, NodeFenceRemediationTemplate } from '../../../ports/remediation.ts';
import { LEASES, NODES } from '../../../ports/resources.ts';
import { WorldApi } from '../../cluster/api.ts';
import type { WorldDependencies } from '../../cluster/dependencies.ts';
import { Loop } from '../../cluster/loop.ts';
import { Mirror } from '../../cluster/mirror.ts';
import { microStamp, stamp } from './stamp.ts';
import { UnhealthyNodes } from './unhealthy-nodes.ts';
import type { UnhealthyWhen } from './unhealthy-nodes.ts';

const NODE_NAME = 'remediation.medik8s.io/node-name';
const TEMPLATE_NAME = 'remediation.medik8s.io/template-name';
const TIMED_OUT = 'remediation.medik8s.io/nhc-timed-out';
/** Where medik8s' operators keep the Leases by which one of them has a node: github.com/medik8s/common, pkg/lease. */
export const MEDIK8S_LEASE_NAMESPACE = 'medik8s-leases';
const LEASE_SECONDS = 660;
const RESYNC_MS = 500;

/** The object that owns the requests. */
export const NODE_HEALTH_CHECKS: Resource<KubeObject & { spec?: unknown }> = {
  group: 'remediation.medik8s.io',
  version: 'v1alpha1',
  kind: 'NodeHealthCheck',
  plural: 'nodehealthchecks',
  namespaced: false,
};

/** What the requests of every remediator have in common. */
export type Request = KubeObject & Pick<NodeFenceRemediation, 'spec' | 'status'>;

/** One of `escalatingRemediations`. */
export interface Remediator {
  templates: Resource<NodeFenceRemediationTemplate>;
  requests: Resource<Request>;
  template: string;
  /** After so long without success the next one has its turn. */
  timeoutMs: number;
}

export interface NodeHealthCheckOptions {
  name: string;
  /** Of templates and requests. */
  namespace: string;
  when: readonly UnhealthyWhen[];
  remediators: readonly Remediator[];
}

/**
 * NodeHealthCheck of medik8s, as far as a remediator can tell: it takes the node's Lease, makes a request of the first template, gives that up when its time is
 * over or it has failed, goes on to the next, and deletes all of them when the node is healthy. Until all are gone the node is in hand.
 */
export class NodeHealthCheck {
  readonly #api: WorldApi;
  readonly #clock: Clock;
  readonly #options: NodeHealthCheckOptions;
  readonly #health: UnhealthyNodes;
  readonly #nodes: Mirror<Node>;
  readonly #requests: { remediator: Remediator; mirror: Mirror<Request> }[];
  readonly #loop: Loop;
  #ownerUID = '';

  constructor(dependencies: WorldDependencies, options: NodeHealthCheckOptions) {
    this.#api = new WorldApi(dependencies.transport);
    this.#clock = dependencies.clock;
    this.#options = options;
    this.#health = new UnhealthyNodes(dependencies.clock, options.when);
    this.#loop = new Loop(dependencies.clock, dependencies.random, () => this.#run());
    const poke = (): void => this.#loop.poke();
    this.#nodes = new Mirror<Node>({ ...dependencies, resource: NODES, onChange: poke, onSync: poke });
    this.#requests = options.remediators.map((remediator) => ({
      remediator,
      mirror: new Mirror<Request>({ ...dependencies, resource: remediator.requests, namespace: options.namespace, onChange: poke, onSync: poke }),
    }));
  }

  async start(): Promise<void> {
    const owner = await this.#api.create(NODE_HEALTH_CHECKS, { metadata: { name: this.#options.name } });
    this.#ownerUID = owner.metadata.uid ?? '';
    this.#nodes.start();
    for (const { mirror } of this.#requests) mirror.start();
  }

  stop(): void {
    this.#nodes.stop();
    for (const { mirror } of this.#requests) mirror.stop();
    this.#loop.stop();
  }

  async #run(): Promise<number | undefined> {
    if (!this.#nodes.isSynced || !this.#requests.every(({ mirror }) => mirror.isSynced)) return undefined;
    for (const node of [...this.#nodes.all()]) {
      const health = this.#health.of(node);
      if ('dueMs' in health) continue;
      if (health.isHealthy) await this.#release(node);
      else await this.#remediate(node);
    }
    return RESYNC_MS;
  }

  #requestsOf(node: string, remediator?: Remediator): Request[] {
    const wanted = this.#requests.filter((each) => remediator === undefined || each.remediator === remediator);
    return wanted.flatMap(({ mirror }) => [...mirror.all()].filter(({ metadata }) => metadata.annotations?.[NODE_NAME] === node));
  }

  /** The node is healthy: deletion tells a remediator to stop. The Lease goes when all of them are gone. */
  async #release({ metadata: { name } }: Node): Promise<void> {
    const left = this.#requests.flatMap(({ remediator }) => this.#requestsOf(name, remediator).map((request) => ({ remediator, request })));
    for (const { remediator, request } of left)
      if (request.metadata.deletionTimestamp === undefined) await this.#api.remove(remediator.requests, request);
    if (left.length > 0) return;
    const place = { name: leaseName(name), namespace: MEDIK8S_LEASE_NAMESPACE };
    const lease = await this.#api.get(LEASES, place);
    if (lease?.spec.holderIdentity === this.#holder) await this.#api.remove(LEASES, lease);
  }

  /** The first one that has neither failed nor run out of time is at work; where it has no request yet, it gets one. */
  async #remediate(node: Node): Promise<void> {
    for (const remediator of this.#options.remediators) {
      const request = this.#requestsOf(node.metadata.name, remediator)[0];
      if (request === undefined) {
        await this.#takeLease(node.metadata.name);
        await this.#request(node, remediator);
        return;
      }
      if (!(await this.#isOver(request, remediator))) return;
    }
  }

  async #isOver(request: Request, remediator: Remediator): Promise<boolean> {
    const succeeded = request.status?.conditions?.find(({ type }) => type === 'Succeeded')?.status;
    if (request.metadata.annotations?.[TIMED_OUT] !== undefined || succeeded === 'False') return true;
    const ageMs = this.#clock.wallMs() - Date.parse(request.metadata.creationTimestamp ?? '');
    if (succeeded === 'True' || ageMs < remediator.timeoutMs) return false;
    const { name, namespace } = request.metadata;
    const annotations = { [TIMED_OUT]: stamp(this.#clock.wallMs()) };
    await this.#api.patch(remediator.requests, { name, namespace }, 'merge', { metadata: { annotations } });
    return true;
  }

  async #request(node: Node, { templates, requests, template }: Remediator): Promise<void> {
    const { namespace, name: owner } = this.#options;
    const found = await this.#api.get(templates, { name: template, namespace });
    if (found === undefined) return;
    const request: Request = {
      metadata: {
        name: `${node.metadata.name}-${template}`,
        namespace,
        annotations: { [NODE_NAME]: node.metadata.name, [TEMPLATE_NAME]: template },
        labels: { 'app.kubernetes.io/part-of': 'node-healthcheck-controller' },
        ownerReferences: [{ apiVersion: 'remediation.medik8s.io/v1alpha1', kind: NODE_HEALTH_CHECKS.kind, name: owner, uid: this.#ownerUID }],
      },
      ...(found.spec.template.spec !== undefined && { spec: found.spec.template.spec }),
    };
    await this.#api.ensure(requests, request);
  }

  async #takeLease(node: string): Promise<void> {
    const now = microStamp(this.#clock.wallMs());
    const lease: Lease = {
      metadata: { name: leaseName(node), namespace: MEDIK8S_LEASE_NAMESPACE },
      spec: { holderIdentity: this.#holder, leaseDurationSeconds: LEASE_SECONDS, acquireTime: now, renewTime: now },
    };
    await this.#api.ensure(LEASES, lease);
  }

  get #holder(): string {
    return `NodeHealthCheck-${this.#options.name}`;
  }
}

function leaseName(node: string): string {
  return `node-${node}`;
}
