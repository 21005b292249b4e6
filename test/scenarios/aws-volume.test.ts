import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { TraceEvent } from '../../src/laws/trace.ts';
import { NODES } from '../../src/ports/resources.ts';
import { CSI_DRIVER } from '../../src/testbed/cluster/kinds.ts';
import { volumesOf } from '../../src/testbed/devices/cloud/aws.ts';
import { AwsRegion, NAMES, STORAGE } from './aws-region.ts';
import { properties } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { journal } from './operator.ts';
import { scenario } from './scenario.ts';
import type { Play } from './scenario.ts';
import { until } from './waiting.ts';
import { CONTROLLER_USER } from './witness.ts';
import type { World } from './world.ts';

const CONDITION = 'AWSVolumeUnreachable';

class Region extends AwsRegion {
  /** What an operator has to write: the isolation of the seed's example, by EC2, and a restart by it. */
  configure(files: Configuration, world: World): void {
    this.begin(files, world);
    for (const node of NAMES) {
      const name = `fence-config-${node}`;
      const common = this.common(node);
      const steps = { isolation: 'mark-unschedulable detach', 'isolation.2': 'mark-unschedulable', power_management: 'stop start' };
      files.write(name, 'config.properties', properties({ node_name: node, ...steps, recovery: 'mark-schedulable' }));
      const storage = { storage: STORAGE, storage_match: `driver:${CSI_DRIVER}` };
      files.write(name, 'fence-method-detach', properties({ agent_name: 'aws-volume', ...common, ...storage, action: 'off' }));
      files.write(name, 'fence-method-stop', properties({ agent_name: 'aws', ...common, action: 'off' }));
      files.write(name, 'fence-method-start', properties({ agent_name: 'aws', ...common, action: 'on' }));
    }
  }
}

/** As node-problem-detector posts it. */
async function says(world: World, node: string, status: 'True' | 'False'): Promise<void> {
  const known = await world.cluster.get(NODES, node);
  const now = new Date().toISOString();
  const others = (known?.status.conditions ?? []).filter(({ type }) => type !== CONDITION);
  const conditions = [...others, { type: CONDITION, status, lastHeartbeatTime: now, lastTransitionTime: now }];
  await world.cluster.mergePatch(NODES, node, { status: { conditions } }, { subresource: 'status' });
}

/** 1. unschedulable, 2. the volume detached, 3. its pods let go, while the condition stands; 4. restarted, 5. schedulable again. */
const REMEDIES = `apiVersion: node-remedy/v1alpha
kind: Configuration
thresholdConfigs:
  - nodeConditionType: ${CONDITION}
    nodeConditionStatus: true
    nodeConditionPeriod: 1s
    heartbeatPeriod: never
    remedy1: [{ name: storage-fence }, { period: 1s }]
    remedy2: [{ name: repair }]
    recovery: [{ name: recovery }]
`;

const isStop = (event: TraceEvent): boolean => event.kind === 'device' && event.storage === undefined && event.want === 'off';
const isDetach = (event: TraceEvent): boolean => event.kind === 'device' && event.storage !== undefined && event.want === 'off';
const isPodDeletion = (event: TraceEvent): boolean =>
  event.kind === 'api' && event.user === CONTROLLER_USER && event.verb === 'delete' && event.resource === 'pods';

function places(world: World): { cordon: number; detach: number; release: number; stop: number; boot: number; uncordon: number } {
  const { trace } = world.witness;
  const boot = trace.findLastIndex((event) => event.kind === 'node' && event.node === 'a' && event.what === 'boot');
  const [cordon] = world.witness.cordons('a');
  const [uncordon] = world.witness.uncordons('a');
  return {
    cordon: trace.findIndex((event) => event === cordon),
    detach: trace.findIndex(isDetach),
    release: trace.findIndex(isPodDeletion),
    stop: trace.findIndex(isStop),
    boot,
    uncordon: trace.findIndex((event) => event === uncordon),
  };
}

function expectInOrder(world: World): void {
  const found = Object.values(places(world));
  expect(found).not.toContain(-1);
  expect(found, JSON.stringify(places(world))).toEqual(found.toSorted((left, right) => left - right));
}

describe.concurrent('a volume of AWS that a node cannot reach', () => {
  const [reported, panicked, stuck] = [new Region(), new Region(), new Region()];
  const all = [reported, panicked, stuck];

  beforeAll(async () => {
    await Promise.all(all.map((region) => region.start()));
  });
  afterAll(async () => {
    await Promise.all(all.map(({ service }) => service.close()));
  });

  scenario(
    'is answered by the five steps of the proposal, on a node whose kubelet lives',
    {
      instances: reported.instances,
      remedies: true,
      timeoutMs: 120_000,
      wrote: (files, world) => {
        reported.configure(files, world);
        files.write('fence-remedies', 'aws.yaml', REMEDIES);
      },
    },
    async ({ world, operator }: Play) => {
      const [pod = ''] = await world.podsOn('a');
      await says(world, 'a', 'True');
      const isolated = await operator.sees('a', 'isolated, its pods let go', ({ storageRelease }) => storageRelease !== undefined);
      expect(isolated.evidence[0]).toMatchObject({ kind: 'storage-revoked', storages: [STORAGE], identity: 'verified' });
      expect(isolated.storageRelease).toMatchObject({ pods: 1, names: [`default/${pod}`] });
      expect(world.machine('a').state, 'it lives, without its volumes').toBe('on');
      await until(
        'the machine boots anew',
        () => Promise.resolve(places(world).stop > -1 && world.machine('a').state === 'on' ? true : undefined),
        60_000,
      );
      await says(world, 'a', 'False');
      const status = await operator.sees('a', 'recovered', ({ state, outcome }) => state === 'final' && outcome === 'recovered', 60_000);
      expectInOrder(world);
      expect(journal(status)).toEqual(
        expect.arrayContaining(['mark-unschedulable run succeeded', 'detach off succeeded', 'release release succeeded', 'stop off succeeded']),
      );
      expect(volumesOf(reported.service).attachedTo(reported.idOf('b')), 'volumes of the other node').toHaveLength(1);
      expect(status.restore, 'the CSI driver attaches, and nothing is left to be taken back').toBeUndefined();
    },
  );

  scenario(
    'is detached of a node that panicked before its instance is stopped',
    { instances: panicked.instances, wrote: (files, world) => panicked.configure(files, world) },
    async ({ world, operator }) => {
      world.machine('a').panic();
      const status = await operator.seesRecovery('a');
      expect(journal(status).slice(0, 4)).toEqual([
        'mark-unschedulable run succeeded',
        'detach off succeeded',
        'release release succeeded',
        'stop off succeeded',
      ]);
      expectInOrder(world);
      expect(world.witness.releases().join(), 'no VolumeAttachment by a proof of storage').not.toContain('volumeattachments');
    },
  );

  scenario(
    'lets nobody go while it stays busy: the next level of isolation is enough to stop the instance, and that is the proof',
    { instances: stuck.instances, wrote: (files, world) => stuck.configure(files, world) },
    async ({ world, operator }) => {
      volumesOf(stuck.service).oddities.staysBusy = true;
      world.machine('a').panic();
      const status = await operator.seesRecovery('a');
      expect(journal(status)).toContain('detach off timeout');
      expect(status.storageRelease).toBeUndefined();
      expect(status.evidence.map(({ kind }) => kind)).toEqual(['instance-stopped']);
      const { detach, release, stop } = places(world);
      expect([detach > -1, stop > detach]).toEqual([true, true]);
      expect(release === -1 || release > stop, 'nobody is let go before the stop').toBe(true);
    },
  );
});
