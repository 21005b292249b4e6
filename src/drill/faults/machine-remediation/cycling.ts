import { GAVE_UP, HOLD, LOCK_HOLDER, MARKS, POWERED_OFF, REQUEST } from '../../../controllers/machine-remediation/names.ts';
import { OFF_REQUESTED } from '../../../controllers/shared/baremetal-host/reboot.ts';
import { MEDIK8S_LEASE_NAMESPACE } from '../../../manifests/access.ts';
import type { ClusterMachine } from '../../../ports/cluster-api.ts';
import { BARE_METAL_HOSTS } from '../../../ports/metal3.ts';
import type { BareMetalHost } from '../../../ports/metal3.ts';
import type { KubeObject, Node } from '../../../ports/objects.ts';
import { LEASES, NODES } from '../../../ports/resources.ts';
import { HOST_MACHINES, hostMachineName, hostName, HOSTS_NAMESPACE } from '../../../testbed/operators/host-fleet.ts';
import { firstAnswer, pause } from '../../run/pause.ts';
import { diagnose } from '../illness.ts';
import type { FaultStage } from '../script.ts';

const POLL_MS = 100;
/** So often a health check asks again for a Machine that has no Node. */
const ASK_MS = 300;
/** On every Node of these drills before it is deleted. */
const KEPT = { 'drill.nodefence/rack': 'r1' };

/** What the faults of machine remediation do, and look at. What is not as it must be is collected in `problems`. */
export class Cycling {
  readonly problems: string[] = [];
  readonly #stage: FaultStage;
  #before: Node | undefined;
  #isAsking = false;

  constructor(stage: FaultStage) {
    this.#stage = stage;
  }

  /** Waits for it, and the audience hears of it when it has come; a problem when it does not. */
  async shows(what: string, deadlineMs: number, ask: () => boolean | Promise<boolean>): Promise<boolean> {
    const found = await firstAnswer(async () => ((await ask()) ? true : undefined), deadlineMs, POLL_MS);
    if (found === undefined) this.problems.push(`after ${deadlineMs / 1000} s still not: ${what}`);
    else this.#stage.tell(what);
    return found === true;
  }

  /** The node falls ill, and somebody asks for its Machine. */
  async fallsIll(): Promise<void> {
    const { session, node } = this.#stage;
    this.#before = await session.cluster.mergePatch(NODES, node, { metadata: { labels: KEPT } });
    await diagnose(this.#stage, node, true);
    await this.ask();
    this.#stage.tell(`a health check writes ${REQUEST} on Machine ${hostMachineName(node)}`);
  }

  async ask(): Promise<void> {
    const patch = { metadata: { annotations: { [REQUEST]: '' } } };
    await this.#stage.session.cluster.mergePatch(HOST_MACHINES, hostMachineName(this.#stage.node), patch, { namespace: HOSTS_NAMESPACE });
  }

  /** Asks again and again while the Node is missing, until the returned function is called. */
  keepAsking(): () => Promise<void> {
    this.#isAsking = true;
    const asking = this.#askOn();
    return async () => {
      this.#isAsking = false;
      await asking;
    };
  }

  async #askOn(): Promise<void> {
    while (this.#isAsking) {
      if ((await this.node()) === undefined) await this.ask();
      await pause(ASK_MS);
    }
  }

  node(): Promise<Node | undefined> {
    return this.#stage.session.cluster.get(NODES, this.#stage.node);
  }

  machine(): Promise<ClusterMachine | undefined> {
    return this.#stage.session.cluster.get(HOST_MACHINES, hostMachineName(this.#stage.node), HOSTS_NAMESPACE);
  }

  host(): Promise<BareMetalHost | undefined> {
    return this.#stage.session.cluster.get(BARE_METAL_HOSTS, hostName(this.#stage.node), HOSTS_NAMESPACE);
  }

  async isHeld(): Promise<boolean> {
    return (await this.host())?.metadata.annotations?.[HOLD] !== undefined;
  }

  /** As its operator says. */
  async isOn(): Promise<boolean | undefined> {
    return (await this.host())?.status?.poweredOn;
  }

  /** The Node that fell ill is deleted, whether another has come or not. */
  async isNodeGone(): Promise<boolean> {
    return (await this.node())?.metadata.uid !== this.#before?.metadata.uid;
  }

  async isMarked(): Promise<boolean> {
    return (await this.machine())?.metadata.annotations?.[POWERED_OFF] !== undefined;
  }

  async gaveUp(): Promise<string | undefined> {
    return (await this.machine())?.metadata.annotations?.[GAVE_UP];
  }

  async isOurs(): Promise<boolean> {
    const lease = await this.#stage.session.cluster.get(LEASES, `node-${this.#stage.node}`, MEDIK8S_LEASE_NAMESPACE);
    return lease?.spec.holderIdentity === LOCK_HOLDER;
  }

  /** Another Node than before, and with its labels where they were kept. */
  async isBack(isKept: boolean): Promise<boolean> {
    const node = await this.node();
    const isSame = Object.entries(KEPT).every(([key, value]) => node?.metadata.labels?.[key] === value);
    return node !== undefined && (isSame || !isKept) && (await this.isNodeGone());
  }

  /** Nothing of ours stands on Machine, host or node. */
  async isClean(): Promise<boolean> {
    const isFree = (object: KubeObject | undefined, keys: readonly string[]): boolean =>
      keys.every((key) => object?.metadata.annotations?.[key] === undefined);
    return isFree(await this.machine(), MARKS) && isFree(await this.host(), [HOLD, OFF_REQUESTED]) && !(await this.isOurs());
  }
}
