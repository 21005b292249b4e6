import { BareMetalOperator } from '../../../src/testbed/operators/baremetal-operator.ts';
import { HOST_MACHINES, hostMachineName, hostName, HOSTS_NAMESPACE } from '../../../src/testbed/operators/host-fleet.ts';
import type { Trace } from '../../../src/testbed/cluster/dependencies.ts';
import type { ApiClient } from '../../../src/kube/client.ts';
import type { ApiTransport } from '../../../src/ports/api-transport.ts';
import { BARE_METAL_HOSTS, metal3Remediations } from '../../../src/ports/metal3.ts';
import type { BareMetalHost } from '../../../src/ports/metal3.ts';
import { OPERATOR_USER } from '../api.ts';
import type { SimulatedDevice } from '../../../src/testbed/simulation/devices.ts';
import type { KernelView } from '../../../src/testbed/simulation/kernel-view.ts';
import type { SimulatedProcess } from '../../../src/testbed/simulation/simulated-process.ts';
import { SimulatedHostPower } from './host-power.ts';
import type { HostDeed, Hosts } from './secondary-controllers.ts';

const { requests: REMEDIATIONS } = metal3Remediations('v1beta2');
const REQUEST = 'host.metal3.io/external-remediation';
const CYCLE = 'reboot.metal3.io';
const PAUSED = 'baremetalhost.metal3.io/paused';
const PLACE = { namespace: HOSTS_NAMESPACE };

/** Of the world, or by the API. */
type Task = () => unknown;
type Ask = Extract<HostDeed, { what: 'ask' }>;

export interface BareMetalOptions {
  kernel: Pick<KernelView, 'nowMs' | 'schedule' | 'trace'>;
  admin: ApiClient;
  hosts: Hosts;
  deviceOf: (node: string) => SimulatedDevice | undefined;
  hardware: {
    fail: (node: string, fault: 'partition' | 'panic' | 'hang') => () => void;
    change: (node: string, behaviour: SimulatedDevice['behaviour']) => () => void;
  };
  isReady: (node: string) => boolean;
  trace: Trace;
  insider: (name: string, user: string) => [SimulatedProcess, ApiTransport];
}

/** The operator of the BareMetalHosts, what befalls it and them, and whoever asks for their machines. */
export class BareMetal {
  readonly #options: BareMetalOptions;
  #process: SimulatedProcess | undefined;
  #started = 0;
  #pending = 0;

  constructor(options: BareMetalOptions) {
    this.#options = options;
  }

  /** Something that was begun is not taken back yet, or is still to come. */
  get isPending(): boolean {
    return this.#pending > 0;
  }

  start(): void {
    if (this.#options.hosts.isServed) this.#startOperator();
    for (const deed of this.#options.hosts.deeds) this.#schedule(deed);
  }

  #startOperator(): void {
    const { insider, deviceOf, trace, hosts } = this.#options;
    this.#started += 1;
    const [process, transport] = insider(`operator-${this.#started}`, OPERATOR_USER);
    this.#process = process;
    const { clock, random } = process;
    new BareMetalOperator({ transport, clock, random, trace }, new SimulatedHostPower(clock, deviceOf, trace), hosts.pace).start();
  }

  #schedule(deed: HostDeed): void {
    const { node, atMs, durationMs } = deed;
    let end: Task = () => Promise.resolve();
    this.#at(atMs, `${deed.what} ${wordOf(deed)} ${node} begins`, () => {
      end = this.#begin(deed);
    });
    this.#at(atMs + durationMs, `${deed.what} ${wordOf(deed)} ${node} ends`, () => end());
    if (deed.what !== 'ask' || deed.everyMs === undefined) return;
    for (let againMs = atMs + deed.everyMs; againMs < atMs + durationMs; againMs += deed.everyMs) this.#at(againMs, '', () => this.#askAgain(deed));
  }

  /** Returns what ends it. */
  #begin(deed: HostDeed): Task {
    const { hardware } = this.#options;
    switch (deed.what) {
      case 'fail': {
        const heal = hardware.fail(deed.node, deed.fault);
        return deed.fault === 'partition' ? heal : () => this.#cycle(deed.node);
      }
      case 'bmc':
        return hardware.change(deed.node, deed.behaviour);
      case 'operator':
        return deed.how === 'stopped' ? this.#stop() : this.#kill();
      case 'host':
        return deed.how === 'paused' ? this.#pauseHost(deed.node) : this.#deleteHost(deed.node);
      case 'ask':
        void this.#ask(deed);
        return () => this.#takeBack(deed);
    }
  }

  #stop(): () => void {
    const process = this.#process;
    process?.stop();
    return () => process?.resume();
  }

  #kill(): () => void {
    this.#process?.crash();
    this.#process = undefined;
    return () => {
      if (this.#process === undefined) this.#startOperator();
    };
  }

  /** As a health check does while it finds the node ill. */
  async #askAgain(deed: Ask): Promise<void> {
    if (!this.#options.isReady(deed.node)) await this.#ask(deed);
  }

  async #ask({ node, by, retryLimit, timeoutSeconds }: Ask): Promise<void> {
    const { admin } = this.#options;
    const name = hostMachineName(node);
    if (by === 'machine') {
      await admin.mergePatch(HOST_MACHINES, name, { metadata: { annotations: { [REQUEST]: '' } } }, PLACE);
      return;
    }
    if ((await admin.get(REMEDIATIONS, name, HOSTS_NAMESPACE)) !== undefined) return;
    const machine = await admin.get(HOST_MACHINES, name, HOSTS_NAMESPACE);
    const { group, version, kind } = HOST_MACHINES;
    const ownerReferences = [{ apiVersion: `${group}/${version}`, kind, name, uid: machine?.metadata.uid ?? '' }];
    await admin.create(REMEDIATIONS, {
      metadata: { name, ...PLACE, ownerReferences },
      spec: { strategy: { type: 'Reboot', retryLimit, timeoutSeconds } },
    });
  }

  async #takeBack({ node, by }: Ask): Promise<void> {
    const { admin } = this.#options;
    const name = hostMachineName(node);
    if (by === 'machine') await admin.mergePatch(HOST_MACHINES, name, { metadata: { annotations: { [REQUEST]: null } } }, PLACE);
    else await admin.remove(REMEDIATIONS, name, PLACE);
  }

  /** Who finds it down when all else is over has its operator switch it off and on. */
  async #cycle(node: string): Promise<void> {
    const { admin, isReady } = this.#options;
    if (!isReady(node))
      await admin.mergePatch(BARE_METAL_HOSTS, hostName(node), { metadata: { annotations: { [CYCLE]: '{"mode":"hard"}' } } }, PLACE);
  }

  #pauseHost(node: string): () => Promise<unknown> {
    const write = (value: string | null): Promise<unknown> =>
      this.#options.admin.mergePatch(BARE_METAL_HOSTS, hostName(node), { metadata: { annotations: { [PAUSED]: value } } }, PLACE);
    void write('');
    return () => write(null);
  }

  #deleteHost(node: string): () => Promise<unknown> {
    const { admin } = this.#options;
    const gone = admin
      .get(BARE_METAL_HOSTS, hostName(node), HOSTS_NAMESPACE)
      .then(async (host) => ((await admin.remove(BARE_METAL_HOSTS, hostName(node), PLACE)) ? host : undefined));
    return async () => {
      const host = await gone;
      if (host !== undefined) await this.#makeAnew(host);
    };
  }

  async #makeAnew({ metadata: { name, namespace = HOSTS_NAMESPACE, labels = {} }, spec }: BareMetalHost): Promise<void> {
    const { admin } = this.#options;
    await admin.create(BARE_METAL_HOSTS, { metadata: { name, namespace, labels }, ...(spec !== undefined && { spec }) });
    await admin.mergePatch(BARE_METAL_HOSTS, name, { status: { provisioning: { state: 'provisioned' } } }, { namespace, subresource: 'status' });
  }

  #at(atMs: number, words: string, task: Task): void {
    const { kernel } = this.#options;
    this.#pending += 1;
    kernel.schedule(atMs, () => {
      if (words !== '') kernel.trace(words);
      void Promise.resolve(task()).finally(() => {
        this.#pending -= 1;
      });
    });
  }
}

function wordOf(deed: HostDeed): string {
  switch (deed.what) {
    case 'fail':
      return deed.fault;
    case 'ask':
      return `by ${deed.by}`;
    case 'bmc':
      return deed.behaviour;
    case 'operator':
    case 'host':
      return deed.how;
  }
}
