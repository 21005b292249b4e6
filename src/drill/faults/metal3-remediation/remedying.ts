import { LOCK_HOLDER } from '../../../controllers/metal3-remediation/dependencies.ts';
import { holdKeyOf, UNHEALTHY } from '../../../controllers/metal3-remediation/names.ts';
import { MEDIK8S_LEASE_NAMESPACE } from '../../../manifests/access.ts';
import { BARE_METAL_HOSTS, metal3Remediations } from '../../../ports/metal3.ts';
import type { BareMetalHost, Metal3Remediation } from '../../../ports/metal3.ts';
import { LEASES } from '../../../ports/resources.ts';
import { hostMachineName, hostName, HOSTS_NAMESPACE } from '../../../testbed/operators/host-fleet.ts';
import { Checking } from '../health-check/checking.ts';
import type { FaultStage } from '../script.ts';

const { requests: REMEDIATIONS, templates: TEMPLATES } = metal3Remediations('v1beta2');
const TEMPLATE = 'power-cycle';
const CHECK = 'workers';

/** What the faults of Metal3Remediation do, and look at. */
export class Remedying {
  readonly checking: Checking;
  readonly #stage: FaultStage;

  constructor(stage: FaultStage) {
    this.#stage = stage;
    this.checking = new Checking(stage);
  }

  /** A MachineHealthCheck that makes a Metal3Remediation for each Machine that is not healthy. */
  async watchOver(strategy: { retryLimit: number; timeoutSeconds: number }): Promise<void> {
    const metadata = { name: TEMPLATE, namespace: HOSTS_NAMESPACE };
    await this.#stage.session.cluster.create(TEMPLATES, { metadata, spec: { template: { spec: { strategy: { type: 'Reboot', ...strategy } } } } });
    const { group, version, kind } = TEMPLATES;
    await this.checking.watchOver(CHECK, { apiVersion: `${group}/${version}`, kind, name: TEMPLATE }, '40%');
  }

  remediation(): Promise<Metal3Remediation | undefined> {
    return this.#stage.session.cluster.get(REMEDIATIONS, hostMachineName(this.#stage.node), HOSTS_NAMESPACE);
  }

  /** `Running`, and how often it was tried again: `Running 1`. */
  async phase(): Promise<string> {
    const { phase = '', retryCount = 0 } = (await this.remediation())?.status ?? {};
    return `${phase} ${retryCount}`;
  }

  /** It was made of the template, and the Machine owns it. */
  async isAsked(): Promise<boolean> {
    const { metadata } = (await this.remediation()) ?? {};
    const [owner] = metadata?.ownerReferences ?? [];
    const isOwned = owner?.kind === 'Machine' && owner.name === hostMachineName(this.#stage.node);
    return isOwned && metadata?.annotations?.['cluster.x-k8s.io/cloned-from-name'] === TEMPLATE;
  }

  #host(): Promise<BareMetalHost | undefined> {
    return this.#stage.session.cluster.get(BARE_METAL_HOSTS, hostName(this.#stage.node), HOSTS_NAMESPACE);
  }

  /** Its annotation stands on the host, and the node is locked by us. */
  async isHeld(): Promise<boolean> {
    const uid = (await this.remediation())?.metadata.uid ?? '';
    const lease = await this.#lease();
    return (await this.#host())?.metadata.annotations?.[holdKeyOf(uid)] !== undefined && lease?.spec.holderIdentity === LOCK_HOLDER;
  }

  /** As its operator says. */
  async isOn(): Promise<boolean | undefined> {
    return (await this.#host())?.status?.poweredOn;
  }

  async isUnhealthy(): Promise<boolean> {
    return (await this.#host())?.metadata.annotations?.[UNHEALTHY] !== undefined;
  }

  /** Nothing of ours stands on host or node. */
  async isClean(): Promise<boolean> {
    const keys = Object.keys((await this.#host())?.metadata.annotations ?? {});
    return !keys.some(isHold) && (await this.#lease())?.spec.holderIdentity !== LOCK_HOLDER;
  }

  #lease() {
    return this.#stage.session.cluster.get(LEASES, `node-${this.#stage.node}`, MEDIK8S_LEASE_NAMESPACE);
  }
}

/** The annotation of a remediation that holds a host off. */
export function isHold(key: string): boolean {
  return key.startsWith(holdKeyOf(''));
}
