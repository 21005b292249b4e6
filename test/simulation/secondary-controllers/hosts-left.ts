import { hostMachineName, hostName } from '../../../src/testbed/operators/host-fleet.ts';
import type { ApiEvent } from '../../../src/laws/trace.ts';
import type { ObjectMeta } from '../../../src/ports/objects.ts';
import type { Hosts } from './secondary-controllers.ts';

const HOSTS = 'baremetalhosts.metal3.io';
const MACHINES = 'machines.cluster.x-k8s.io';
const REMEDIATIONS = 'metal3remediations.infrastructure.cluster.x-k8s.io';
const HOLD = 'reboot.metal3.io/';
const OUT_OF_SERVICE = 'node.kubernetes.io/out-of-service';
/** On a Machine, while it is in hand. */
const MARKS = ['host.metal3.io/external-remediation', 'remediation.metal3.io/', 'ha.k8s.io/machine-remediation'];

interface Known {
  metadata: ObjectMeta;
  spec?: { taints?: { key: string }[] };
}

/** What of a remediation by hosts stands where nobody asks any more, as the API server has it. */
export class HostsLeft {
  readonly #hosts: Pick<Hosts, 'nodes' | 'isServed'>;
  readonly #isReady: (node: string) => boolean;
  readonly #standing = new Map<string, Known>();

  constructor(hosts: Pick<Hosts, 'nodes' | 'isServed'>, isReady: (node: string) => boolean) {
    this.#hosts = hosts;
    this.#isReady = isReady;
  }

  hear({ resource, verb, status, name, object }: ApiEvent): void {
    if (![HOSTS, MACHINES, REMEDIATIONS, 'nodes'].includes(resource) || status >= 300 || name === undefined) return;
    if (verb === 'get' || verb === 'list' || verb === 'watch') return;
    const key = `${resource} ${name}`;
    const known = object as Known | undefined;
    const isGone = verb === 'delete' && (known?.metadata.finalizers ?? []).length === 0;
    const hasEnded = known?.metadata.deletionTimestamp !== undefined && (known.metadata.finalizers ?? []).length === 0;
    if (isGone || hasEnded || known === undefined) this.#standing.delete(key);
    else this.#standing.set(key, known);
  }

  /** Each in words. */
  open(): string[] {
    const { nodes, isServed } = this.#hosts;
    return nodes.flatMap((node) => [
      // How a fence ends is judged elsewhere.
      ...(!isServed || this.#isReady(node) ? [] : [`${node} is not Ready`]),
      ...this.#annotationsOf(`${HOSTS} ${hostName(node)}`, [HOLD]).map((key) => `the host of ${node} is held by ${key}`),
      ...this.#annotationsOf(`${MACHINES} ${hostMachineName(node)}`, MARKS).map((key) => `the Machine of ${node} has ${key}`),
      ...(this.#standing.has(`${REMEDIATIONS} ${hostMachineName(node)}`) ? [`the Metal3Remediation of ${node} is not gone`] : []),
      ...(isServed && this.#isTainted(node) ? [`${node} is out of service`] : []),
    ]);
  }

  #annotationsOf(key: string, prefixes: readonly string[]): string[] {
    const annotations = Object.keys(this.#standing.get(key)?.metadata.annotations ?? {});
    return annotations.filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));
  }

  #isTainted(node: string): boolean {
    return this.#standing.get(`nodes ${node}`)?.spec?.taints?.some(({ key }) => key === OUT_OF_SERVICE) === true;
  }
}
