import { metal3 } from '../../agents/metal3/definition.ts';
import { BARE_METAL_HOSTS, HARD, holders, HOLD, RECORD } from '../../agents/metal3/host.ts';
import type { BareMetalHost } from '../../agents/metal3/host.ts';
import { ObjectWorld } from '../../src/testbed/objects/object-world.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { testFaultProfile } from './harness.ts';
import { actsAfterMs, API_WORDS, commandsOf, connectionTo, everyMoment, faultOf, KUBECONFIG } from './object-faults.ts';
import type { Behaviour, DeviceFixture } from './fault-profile.ts';
import { reach } from '../reach.ts';

const NAMESPACE = 'metal';
const clock = new SystemClock();

interface Machine {
  isOn: boolean;
  /** Since when it is to be otherwise. */
  wantedSinceMs: number | undefined;
  offAtMs: number | undefined;
}

/** The bare metal operator and its machines. */
class Operator {
  readonly machines = new Map<string, Machine>();
  readonly #world: ObjectWorld;
  readonly #behaviour: Behaviour;

  constructor(world: ObjectWorld, behaviour: Behaviour) {
    this.#world = world;
    this.#behaviour = behaviour;
  }

  async enrol(name: string, isOn: boolean): Promise<void> {
    const isHeld = !isOn || this.#behaviour === 'state-pending';
    const annotations = isHeld ? { [HOLD]: HARD, [RECORD]: '{"node":"a","incident":"","wasOn":true}' } : {};
    const host: BareMetalHost = { metadata: { name, namespace: NAMESPACE, annotations }, spec: { online: true } };
    await this.#world.cluster.create(BARE_METAL_HOSTS, host);
    this.machines.set(name, { isOn, wantedSinceMs: undefined, offAtMs: undefined });
    await this.#tell(name, isOn);
  }

  async look(): Promise<void> {
    for (const host of await this.#world.cluster.list(BARE_METAL_HOSTS, { namespace: NAMESPACE })) await this.#minded(host);
  }

  async #minded(host: BareMetalHost): Promise<void> {
    const { name } = host.metadata;
    const machine = this.machines.get(name);
    if (machine === undefined) return;
    const isDeaf = ['accepts-and-lies', 'state-pending'].includes(this.#behaviour) || (this.#behaviour === 'one-plug-stuck' && name === 'host-b');
    const nowMs = clock.monotonicMs();
    if (machine.offAtMs !== undefined && this.#behaviour === 'flips-back-on') {
      if (nowMs - machine.offAtMs > 500 && !machine.isOn) await this.#switch(name, machine, true);
      return;
    }
    const wanted = holders(host).length === 0;
    if (wanted === machine.isOn || isDeaf) {
      machine.wantedSinceMs = undefined;
      return;
    }
    machine.wantedSinceMs ??= nowMs;
    if (nowMs - machine.wantedSinceMs >= actsAfterMs(this.#behaviour)) await this.#switch(name, machine, wanted);
  }

  async #switch(name: string, machine: Machine, isOn: boolean): Promise<void> {
    machine.isOn = isOn;
    if (!isOn) machine.offAtMs = clock.monotonicMs();
    await this.#tell(name, isOn);
  }

  async #tell(name: string, isOn: boolean): Promise<void> {
    const isTroubled = this.#behaviour === 'state-unknown';
    const status = {
      poweredOn: this.#behaviour === 'state-null' ? null : isOn,
      operationalStatus: isTroubled ? 'error' : 'OK',
      errorType: isTroubled ? 'power management error' : '',
      errorMessage: isTroubled ? 'BMC did not answer' : '',
      lastUpdated: new Date(clock.wallMs()).toISOString(),
      provisioning: { state: 'provisioned' },
    };
    await this.#world.status(BARE_METAL_HOSTS, name, status, NAMESPACE);
  }
}

async function spawn(behaviour: Behaviour, isOn: boolean): Promise<DeviceFixture> {
  const world = await ObjectWorld.with(clock, [BARE_METAL_HOSTS], NAMESPACE, reach);
  const operator = new Operator(world, behaviour);
  const names = behaviour === 'one-plug-stuck' ? ['host-a', 'host-b'] : ['host-a'];
  for (const name of names) await operator.enrol(name, isOn);
  const stop = everyMoment(() => operator.look());
  const connection = connectionTo(world);
  world.writes.length = 0;
  world.fault = faultOf(behaviour);
  const plugs = names.map((name) => `${NAMESPACE}/${name}`);
  const host = behaviour === 'wrong-machine' ? 'host-of-another' : 'host-a';
  const own = await ObjectWorld.with(clock, [], NAMESPACE, reach);
  return {
    parameters: { kubeconfig: KUBECONFIG },
    plugs,
    identity: { node: 'a', ...(names.length > 1 ? {} : { providerID: `metal3://${NAMESPACE}/${host}/machine-a` }) },
    context: { cluster: own.cluster, connect: connection.connect },
    flows: (plug) => operator.machines.get(plug.slice(NAMESPACE.length + 1))?.isOn === true,
    commands: () =>
      commandsOf(world, plugs, ({ path, body }, plug) => {
        const annotations = (body as { metadata?: { annotations?: Record<string, string | null> } } | undefined)?.metadata?.annotations ?? {};
        if (!path.endsWith(plug.replace('/', '/baremetalhosts/')) || !(HOLD in annotations)) return undefined;
        return annotations[HOLD] === null ? 'on' : 'off';
      }),
    leftOpen: () => ({ sessions: 0, connections: connection.open(), processes: 0 }),
    close: stop,
  };
}

testFaultProfile({
  agent: metal3,
  cannot: { restarts: 'an API server keeps what it was told through a restart', 'session-limit': 'an API server has no sessions' },
  words: {
    ...API_WORDS,
    'accepts-and-lies': /poweredOn=(?:true|false)/u,
    'state-unknown': /power management error, BMC did not answer/u,
    'state-null': /poweredOn=\(none\)/u,
    'state-pending': /poweredOn=(?:true|false)/u,
    'flips-back-on': /poweredOn=true/u,
    'wrong-machine': /is another machine: providerID metal3:\/\/metal\/host-of-another/u,
    'one-plug-stuck': /host-b|poweredOn=(?:true|false)/u,
    'late-after-deadline': /poweredOn=(?:true|false)|no complete answer within/u,
  },
  spawn,
});
