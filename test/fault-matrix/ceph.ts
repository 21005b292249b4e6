import { cephWith } from '../../agents/ceph/definition.ts';
import { FENCED, fenceNameOf, NETWORK_FENCES, UNFENCED } from '../../agents/ceph/network-fence.ts';
import type { NetworkFence } from '../../agents/ceph/network-fence.ts';
import { parseSettings } from '../../agents/ceph/parameters.ts';
import { ObjectWorld } from '../../src/testbed/objects/object-world.ts';
import { NODES } from '../../src/ports/resources.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { testFaultProfile } from './harness.ts';
import { actsAfterMs, API_WORDS, commandsOf, connectionTo, everyMoment, faultOf, KUBECONFIG } from './object-faults.ts';
import type { Behaviour, DeviceFixture } from './fault-profile.ts';
import { reach } from '../reach.ts';

const PARAMETERS = { kubeconfig: KUBECONFIG, class_name: 'rook-ceph' };
const clock = new SystemClock();

/** csi-addons and the storage behind it. */
class Storage {
  /** `10.0.0.5/32`: nothing of these comes through. */
  readonly shut = new Set<string>();
  readonly #world: ObjectWorld;
  readonly #behaviour: Behaviour;
  readonly #since = new Map<string, number>();
  #shutAtMs: number | undefined;

  constructor(world: ObjectWorld, behaviour: Behaviour) {
    this.#world = world;
    this.#behaviour = behaviour;
  }

  async look(): Promise<void> {
    if (['accepts-and-lies', 'state-pending', 'state-unknown', 'state-null'].includes(this.#behaviour)) return;
    for (const fence of await this.#world.cluster.list(NETWORK_FENCES)) await this.#carryOut(fence);
    if (this.#behaviour !== 'flips-back-on' || this.#shutAtMs === undefined || clock.monotonicMs() - this.#shutAtMs < 500) return;
    for (const { metadata } of await this.#world.cluster.list(NETWORK_FENCES))
      await this.#world.cluster.mergePatch(NETWORK_FENCES, metadata.name, { spec: { fenceState: 'Unfenced' } });
  }

  async #carryOut({ metadata, spec, status }: NetworkFence): Promise<void> {
    const cidr = Array.isArray(spec.cidrs) ? String(spec.cidrs[0]) : '';
    if (this.#behaviour === 'one-plug-stuck' && cidr.startsWith('10.0.0.6')) return;
    const message = spec.fenceState === 'Fenced' ? FENCED : UNFENCED;
    if (status?.message === message) return;
    const key = `${metadata.name} ${message}`;
    const sinceMs = this.#since.get(key) ?? clock.monotonicMs();
    this.#since.set(key, sinceMs);
    if (clock.monotonicMs() - sinceMs < actsAfterMs(this.#behaviour)) return;
    if (spec.fenceState === 'Fenced') {
      this.shut.add(cidr);
      this.#shutAtMs ??= clock.monotonicMs();
    } else this.shut.delete(cidr);
    await this.#world.status(NETWORK_FENCES, metadata.name, { result: 'Succeeded', message });
  }
}

function nameOf(plug: string): string {
  const settings = parseSettings(PARAMETERS, plug);
  if (!('via' in settings) || settings.via !== 'networkfence') throw new Error('no settings');
  return fenceNameOf('a', settings);
}

async function enrol(world: ObjectWorld, storage: Storage, plug: string, behaviour: Behaviour, isOn: boolean): Promise<void> {
  const isOdd = ['state-unknown', 'state-null', 'state-pending'].includes(behaviour);
  if (isOn && !isOdd) return;
  const cidr = `${plug}/32`;
  const fenceState = behaviour === 'state-null' ? null : 'Fenced';
  const spec = { fenceState, cidrs: [cidr], networkFenceClassName: 'rook-ceph' } as NetworkFence['spec'];
  await world.cluster.create(NETWORK_FENCES, { metadata: { name: nameOf(plug) }, spec });
  if (!isOn) storage.shut.add(cidr);
  if (behaviour === 'state-unknown') await world.status(NETWORK_FENCES, nameOf(plug), { result: 'Succeeded', message: 'done' });
  else if (!isOdd) await world.status(NETWORK_FENCES, nameOf(plug), { result: 'Succeeded', message: FENCED });
}

async function spawn(behaviour: Behaviour, isOn: boolean): Promise<DeviceFixture> {
  const world = await ObjectWorld.with(clock, [NETWORK_FENCES], 'ceph', reach);
  const own = await ObjectWorld.with(clock, [], 'ceph', reach);
  await own.cluster.create(NODES, { metadata: { name: 'a' }, spec: {}, status: {} });
  await own.status(NODES, 'a', { addresses: [{ type: 'InternalIP', address: '10.0.0.5' }] });
  const storage = new Storage(world, behaviour);
  const plugs = behaviour === 'one-plug-stuck' ? ['10.0.0.5', '10.0.0.6'] : ['10.0.0.5'];
  for (const plug of plugs) await enrol(world, storage, plug, behaviour, isOn);
  const stop = everyMoment(() => storage.look());
  const connection = connectionTo(world);
  world.writes.length = 0;
  world.fault = faultOf(behaviour);
  return {
    parameters: PARAMETERS,
    plugs,
    identity: { node: 'a' },
    context: { cluster: own.cluster, connect: connection.connect },
    flows: (plug) => !storage.shut.has(`${plug}/32`),
    commands: () =>
      commandsOf(world, plugs, ({ path, body }, plug) => {
        const fence = body as Partial<NetworkFence> | undefined;
        if (!path.endsWith(nameOf(plug)) && fence?.metadata?.name !== nameOf(plug)) return undefined;
        return fence?.spec?.fenceState === 'Fenced' ? 'off' : fence?.spec?.fenceState === 'Unfenced' ? 'on' : undefined;
      }),
    leftOpen: () => ({ sessions: 0, connections: connection.open(), processes: 0 }),
    close: stop,
  };
}

const SAID = /NetworkFence nodefence-a-[0-9a-f]{10}: fenceState=|no NetworkFence of ours/u;

testFaultProfile({
  agent: cephWith(),
  cannot: {
    restarts: 'an API server keeps what it was told through a restart',
    'session-limit': 'an API server has no sessions',
    'wrong-machine': 'an address says nothing of the machine that has it',
  },
  words: {
    ...API_WORDS,
    'accepts-and-lies': SAID,
    'state-unknown': /result=Succeeded, done/u,
    'state-null': /fenceState=\(none\)/u,
    'state-pending': SAID,
    'flips-back-on': SAID,
    'one-plug-stuck': SAID,
    'late-after-deadline': /NetworkFence|no complete answer within/u,
  },
  spawn,
});
