import { FLEET_NAMESPACE, machineName } from '../../../src/testbed/operators/fleet.ts';
import { HOSTS_NAMESPACE } from '../../../src/testbed/operators/host-fleet.ts';
import type { ApiClient } from '../../../src/kube/client.ts';
import { MEDIK8S_LEASE_NAMESPACE } from '../../../src/manifests/access.ts';
import { MACHINES } from '../../../src/ports/machines.ts';
import { NODE_FENCE_REMEDIATION } from '../../../src/ports/remediation.ts';
import type { KubeObject } from '../../../src/ports/objects.ts';
import { LEASES, NODES } from '../../../src/ports/resources.ts';
import type { ApiEvent } from '../../../src/laws/trace.ts';
import type { KernelView } from '../../../src/testbed/simulation/kernel-view.ts';
import { ILLNESS } from './secondary-controllers.ts';
import type { Deed, RequestDeed } from './secondary-controllers.ts';

const { requests: REQUESTS } = NODE_FENCE_REMEDIATION;
const NODE_NAME = 'remediation.medik8s.io/node-name';
const PRESERVE = 'node.machine.sapcloud.io/preserve';
const TIMED_OUT = 'remediation.medik8s.io/nhc-timed-out';
const HOLDER = 'NodeHealthCheck-simulated';
const LEASE_SECONDS = 660;
/** Who deletes an object and waits until it is gone sees that a moment later. */
const SEEN_GONE_MS = 500;

type Asking = Deed & RequestDeed;
type Timer = Pick<KernelView, 'schedule' | 'trace'>;

export interface DeedsOptions {
  kernel: Timer;
  admin: ApiClient;
  wallMs: () => number;
  /** Somebody presses the button of a machine. */
  switchOn: (node: string) => void;
}

/** Does what people and other clients do by the API for the controllers beside, when the draws say so; only their timing is bad. */
export class Deeds {
  readonly #options: DeedsOptions;
  /** What follows the end of a request that was taken back, by its name. */
  readonly #afterwards = new Map<string, () => void>();
  #pending = 0;

  constructor(options: DeedsOptions) {
    this.#options = options;
  }

  /** Something that was begun is not taken back yet, or is still to come. */
  get isPending(): boolean {
    return this.#pending > 0;
  }

  schedule(deeds: readonly Deed[]): void {
    for (const [index, deed] of deeds.entries()) {
      if (deed.what === 'request') this.#scheduleRequest(`by-hand-${index}`, deed);
      else if (deed.what === 'illness') this.#scheduleIllness(deed);
      else if (deed.what === 'preserve') this.#schedulePreserving(deed);
      else this.#later(deed.atMs, `somebody deletes the Machine of ${deed.node}`, () => this.#deleteMachine(deed.node));
    }
  }

  #scheduleRequest(name: string, deed: Asking): void {
    const { node, atMs, durationMs, timesOutMs } = deed;
    this.#later(atMs, `somebody asks for ${node} (${name})`, () => this.#request(name, deed));
    if (timesOutMs !== undefined) this.#later(atMs + timesOutMs, `somebody gives ${name} up`, () => this.#giveUp(name));
    this.#later(atMs + durationMs, `somebody asks no more for ${node} (${name})`, () => this.#takeBack(name, deed));
  }

  #scheduleIllness({ node, atMs, durationMs }: Deed): void {
    this.#later(atMs, `${node} falls ill`, () => this.#diagnose(node, true));
    this.#later(atMs + durationMs, `${node} is well again`, () => this.#diagnose(node, false));
  }

  #schedulePreserving({ node, atMs, durationMs, on, value }: Extract<Deed, { what: 'preserve' }>): void {
    this.#later(atMs, `somebody writes ${value === '' ? 'nothing' : value} on the ${on} of ${node}`, () => this.#preserve(node, on, value));
    this.#later(atMs + durationMs, `somebody takes that from the ${on} of ${node}`, () => this.#preserve(node, on, null));
  }

  async #preserve(node: string, on: 'node' | 'machine', value: string | null): Promise<void> {
    const { admin } = this.#options;
    const patch = { metadata: { annotations: { [PRESERVE]: value } } };
    if (on === 'node') {
      if ((await admin.get(NODES, node)) !== undefined) await admin.mergePatch(NODES, node, patch);
      return;
    }
    const [name, namespace] = [machineName(node), FLEET_NAMESPACE];
    if ((await admin.get(MACHINES, name, namespace)) !== undefined) await admin.mergePatch(MACHINES, name, patch, { namespace });
  }

  async #deleteMachine(node: string): Promise<void> {
    await this.#options.admin.remove(MACHINES, machineName(node), { namespace: FLEET_NAMESPACE });
  }

  async #diagnose(node: string, isIll: boolean): Promise<void> {
    const { admin, wallMs } = this.#options;
    const found = await admin.get(NODES, node);
    if (found === undefined) return;
    const lastTransitionTime = new Date(wallMs()).toISOString();
    const said = { type: ILLNESS, status: isIll ? ('True' as const) : ('False' as const), reason: 'Simulated', message: '', lastTransitionTime };
    const conditions = [...(found.status.conditions ?? []).filter(({ type }) => type !== ILLNESS), said];
    await admin.mergePatch(NODES, node, { status: { conditions } }, { subresource: 'status' });
  }

  async #request(name: string, { node, spec, hasLease }: Asking): Promise<void> {
    const { admin } = this.#options;
    if (hasLease) await this.#takeLease(node);
    await admin.create(REQUESTS, { metadata: { name, namespace: HOSTS_NAMESPACE, annotations: { [NODE_NAME]: node } }, spec });
  }

  async #giveUp(name: string): Promise<void> {
    const annotations = { [TIMED_OUT]: new Date(this.#options.wallMs()).toISOString() };
    if ((await this.#options.admin.get(REQUESTS, name, HOSTS_NAMESPACE)) === undefined) return;
    await this.#options.admin.mergePatch(REQUESTS, name, { metadata: { annotations } }, { namespace: HOSTS_NAMESPACE });
  }

  /** A request that is deleted has ended when its last finalizer goes. */
  hear({ resource, name, verb, status, object }: ApiEvent): void {
    if (resource !== 'nodefenceremediations.ha.k8s.io' || status >= 300 || object === undefined) return;
    const { deletionTimestamp, finalizers = [] } = (object as KubeObject).metadata;
    if ((verb === 'delete' || deletionTimestamp !== undefined) && finalizers.length === 0) this.#gone(name ?? '');
  }

  #gone(name: string): void {
    const next = this.#afterwards.get(name);
    this.#afterwards.delete(name);
    next?.();
  }

  /** As NodeHealthCheck and `kubectl delete` do, it is waited for until nothing holds it any more: until then its node may yet go, or come back. */
  async #takeBack(name: string, deed: Asking): Promise<void> {
    this.#afterwards.set(name, () => this.#later(SEEN_GONE_MS, `${name} is seen to be gone`, () => this.#goOn(deed)));
    const isThere = await this.#options.admin.remove(REQUESTS, name, { namespace: HOSTS_NAMESPACE });
    if (!isThere) this.#gone(name);
  }

  /** Whose Node has gone for good is taken into use again. */
  async #goOn({ node, hasLease }: Asking): Promise<void> {
    const { admin, switchOn } = this.#options;
    if ((await admin.get(NODES, node)) === undefined) switchOn(node);
    if (!hasLease) return;
    const lease = await admin.get(LEASES, leaseName(node), MEDIK8S_LEASE_NAMESPACE);
    if (lease?.spec.holderIdentity === HOLDER) await admin.remove(LEASES, leaseName(node), { namespace: MEDIK8S_LEASE_NAMESPACE });
  }

  /** Nobody who finds it taken takes it. */
  async #takeLease(node: string): Promise<void> {
    const { admin, wallMs } = this.#options;
    const namespace = MEDIK8S_LEASE_NAMESPACE;
    if ((await admin.get(LEASES, leaseName(node), namespace)) !== undefined) return;
    const now = new Date(wallMs()).toISOString().replace('Z', '000Z');
    const spec = { holderIdentity: HOLDER, leaseDurationSeconds: LEASE_SECONDS, acquireTime: now, renewTime: now };
    await admin.create(LEASES, { metadata: { name: leaseName(node), namespace }, spec });
  }

  #later(atMs: number, words: string, task: () => Promise<void>): void {
    const { kernel } = this.#options;
    this.#pending += 1;
    kernel.schedule(atMs, () => {
      kernel.trace(words);
      void task().finally(() => {
        this.#pending -= 1;
      });
    });
  }
}

function leaseName(node: string): string {
  return `node-${node}`;
}
