import { BARE_METAL_HOSTS } from '../../src/ports/metal3.ts';
import type { BareMetalHost } from '../../src/ports/metal3.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import { Operator } from './operator.ts';

/** The operator of one BareMetalHost that stands at an API server: sees what is annotated there, and tells there how its machine is. */
export class ApiOperator {
  readonly machine: Operator;
  /** false: nobody runs it. */
  isRunning = true;
  readonly #cluster: Pick<Cluster, 'get' | 'mergePatch'>;
  readonly #place: { namespace: string; name: string };

  constructor(cluster: Pick<Cluster, 'get' | 'mergePatch'>, place: { namespace: string; name: string }, machine = new Operator()) {
    this.#cluster = cluster;
    this.#place = place;
    this.machine = machine;
  }

  /** `nowMs`: since the operator began. */
  async tick(nowMs: number): Promise<void> {
    const { namespace, name } = this.#place;
    const host = await this.#cluster.get(BARE_METAL_HOSTS, name, namespace);
    if (host === undefined || !this.isRunning) return;
    const { machine } = this;
    machine.isOnline = host.spec?.online === true;
    machine.neverOff = host.spec?.disablePowerOff === true;
    const annotations = host.metadata.annotations ?? {};
    if (JSON.stringify(annotations) !== JSON.stringify(machine.annotations)) machine.annotate(annotations);
    machine.advance(nowMs);
    const { told: poweredOn, operationalStatus, errorType } = machine;
    const status = { poweredOn, operationalStatus, errorType, provisioning: { state: 'provisioned' } };
    if (isSaid(host, status)) return;
    await this.#cluster.mergePatch(BARE_METAL_HOSTS, name, { status }, { namespace, subresource: 'status' });
  }
}

function isSaid({ status = {} }: BareMetalHost, wanted: NonNullable<BareMetalHost['status']>): boolean {
  const { poweredOn, operationalStatus, errorType, provisioning } = status;
  return JSON.stringify({ poweredOn, operationalStatus, errorType, provisioning }) === JSON.stringify(wanted);
}
