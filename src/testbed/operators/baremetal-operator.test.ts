import { beforeEach, describe, expect, it } from 'vitest';
import { ApiClient } from '../../kube/client.ts';
import { BARE_METAL_HOSTS } from '../../ports/metal3.ts';
import type { BareMetalHost } from '../../ports/metal3.ts';
import { NODES } from '../../ports/resources.ts';
import { ManualClock } from '../../runtime/manual-clock.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { ApiServer } from '../apiserver/server.ts';
import { inProcessTransport } from '../apiserver/transport.ts';
import { MemoryMachine } from '../devices/bmc/power-backend.ts';
import { BareMetalOperator } from './baremetal-operator.ts';
import type { HostPower, OperatorPace } from './baremetal-operator.ts';
import { createHostFleet, HOST_DEFINITIONS, hostName, hostProviderID, HOSTS_NAMESPACE } from './host-fleet.ts';
import { HostMachines } from './host-machines.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const PACE: OperatorPace = { steadyMs: 60_000, shortWaitMs: 3_000, softMs: 180_000, backOffUnitMs: 60_000 };
const HARD = '{"mode":"hard"}';
const HOLD = 'reboot.metal3.io/ours';

/** One host with its machine, and the operator. */
class HostWorld implements HostPower {
  readonly clock = new ManualClock();
  readonly machine = new MemoryMachine();
  readonly #transport;
  readonly cluster: ApiClient;
  bmc: 'well' | 'dead' | 'refusing' = 'well';
  sets = 0;

  constructor() {
    const users = [{ name: 'admin', groups: ['system:masters'] }];
    this.#transport = inProcessTransport(new ApiServer({ clock: this.clock, random: new SystemRandom(), users, authorization: 'rbac' }), 'admin');
    this.cluster = new ApiClient({ transport: this.#transport });
  }

  async start(): Promise<void> {
    for (const body of HOST_DEFINITIONS) await this.#transport.request({ method: 'POST', path: DEFINITIONS, body, deadlineMs: 1_000 });
    await createHostFleet(this.cluster, ['n1'], this.clock.wallMs());
    const trace = (): void => undefined;
    const dependencies = { transport: this.#transport, clock: this.clock, random: new SystemRandom(), trace };
    new BareMetalOperator(dependencies, this, PACE).start();
    new HostMachines(dependencies).start();
    await this.clock.advance(1_000);
  }

  read(): Promise<'on' | 'off'> {
    return this.bmc === 'dead' ? Promise.reject(new Error('no answer')) : Promise.resolve(this.machine.state());
  }

  set(_node: string, state: 'on' | 'off'): Promise<void> {
    this.sets += 1;
    if (this.bmc !== 'well') return Promise.reject(new Error('the device refused'));
    this.machine[state]('set');
    return Promise.resolve();
  }

  host(): Promise<BareMetalHost | undefined> {
    return this.cluster.get(BARE_METAL_HOSTS, hostName('n1'), HOSTS_NAMESPACE);
  }

  async annotate(annotations: Record<string, string | null>): Promise<void> {
    await this.cluster.mergePatch(BARE_METAL_HOSTS, hostName('n1'), { metadata: { annotations } }, { namespace: HOSTS_NAMESPACE });
    await this.clock.advance(100);
  }
}

describe('the baremetal-operator of the drill', () => {
  let world: HostWorld;
  beforeEach(async () => {
    world = new HostWorld();
    await world.start();
  });

  it('says of each host that it is on', async () => {
    expect((await world.host())?.status).toMatchObject({ poweredOn: true, operationalStatus: 'OK', provisioning: { state: 'provisioned' } });
  });

  it('holds a host off until its annotation is taken away, and tells what it has read, not what it has sent', async () => {
    await world.annotate({ [HOLD]: HARD });
    expect([world.machine.state(), (await world.host())?.status?.poweredOn]).toEqual(['off', true]);
    await world.clock.advance(3_000);
    expect((await world.host())?.status?.poweredOn).toBe(false);
    await world.clock.advance(600_000);
    expect(world.machine.edges).toHaveLength(1);
    await world.annotate({ [HOLD]: null });
    await world.clock.advance(3_000);
    expect([world.machine.state(), (await world.host())?.status?.poweredOn]).toEqual(['on', true]);
  });

  it('does not see by itself what happens to a host before it looks again', async () => {
    world.machine.off('restore');
    await world.clock.advance(30_000);
    expect((await world.host())?.status?.poweredOn).toBe(true);
    await world.clock.advance(40_000);
    expect(world.machine.state()).toBe('on');
  });

  it('cycles a host whose annotation has no key, and takes it away itself', async () => {
    await world.annotate({ 'reboot.metal3.io': HARD });
    await world.clock.advance(10_000);
    expect(world.machine.edges.map(({ state }) => state)).toEqual(['off', 'on']);
    expect((await world.host())?.metadata.annotations?.['reboot.metal3.io']).toBeUndefined();
  });

  it('gives the operating system its time where it is asked softly', async () => {
    await world.annotate({ [HOLD]: '' });
    await world.clock.advance(170_000);
    expect(world.machine.state()).toBe('on');
    await world.clock.advance(20_000);
    expect(world.machine.state()).toBe('off');
  });

  it('tells of a BMC that does not switch, and looks later and later, whoever writes meanwhile', async () => {
    world.bmc = 'refusing';
    await world.annotate({ [HOLD]: HARD });
    expect((await world.host())?.status).toMatchObject({ operationalStatus: 'error', errorType: 'power management error', errorCount: 1 });
    world.bmc = 'well';
    await world.annotate({ other: 'x' });
    expect(world.sets).toBe(1);
    await world.clock.advance(2 * 60_000);
    expect([world.machine.state(), world.sets]).toEqual(['off', 2]);
  });

  it('leaves the status as it was while a BMC cannot be read and nothing is wanted of it', async () => {
    world.bmc = 'dead';
    await world.clock.advance(300_000);
    expect((await world.host())?.status).toMatchObject({ poweredOn: true, operationalStatus: 'OK' });
  });

  it('leaves a paused host alone', async () => {
    await world.annotate({ [HOLD]: HARD, 'baremetalhost.metal3.io/paused': '' });
    await world.clock.advance(300_000);
    expect(world.sets).toBe(0);
  });

  it('stands beside a Cluster API that says on each Node whose Machine it is, also when it registers anew', async () => {
    for (let time = 0; time < 2; time += 1) {
      await world.cluster.create(NODES, { metadata: { name: 'n1' }, spec: { providerID: hostProviderID('n1') }, status: {} });
      await world.clock.advance(1_000);
      expect((await world.cluster.get(NODES, 'n1'))?.metadata.annotations?.['cluster.x-k8s.io/machine']).toBe('machine-n1');
      await world.cluster.remove(NODES, 'n1');
      await world.clock.advance(1_000);
    }
  });
});
