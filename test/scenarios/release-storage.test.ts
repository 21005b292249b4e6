import { describe, expect } from 'vitest';
import type { ApiEvent, DeviceEvent, TraceEvent } from '../../src/laws/trace.ts';
import { CSI_DRIVER } from '../../src/testbed/cluster/kinds.ts';
import { properties } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { journal } from './operator.ts';
import { scenario } from './scenario.ts';
import type { ScenarioOptions } from './scenario.ts';
import { storageSwitch, STORAGE_SWITCH, SWITCH_ADDRESS } from './storage-switch.ts';
import { CONTROLLER_USER } from './witness.ts';
import type { World } from './world.ts';

const STORAGE = 'san';

/** Two ports are closed in isolation, and opened in recovery. */
function revoking(match: string, settings: Readonly<Record<string, string>> = {}): (files: Configuration) => void {
  return (files) => {
    files.set(settings);
    const steps = { isolation: 'close-1 close-2 mark-unschedulable', power_management: 'redfish-off redfish-on' };
    const all = { node_name: 'a', ...steps, recovery: 'open-1 open-2 mark-schedulable' };
    files.write('fence-config-a', 'config.properties', properties(all));
    for (const port of ['1', '2']) {
      const method = { agent_name: STORAGE_SWITCH, ip: SWITCH_ADDRESS, plug: `a/${port}` };
      files.write('fence-config-a', `fence-method-close-${port}`, properties({ ...method, action: 'off', storage: STORAGE, storage_match: match }));
      files.write('fence-config-a', `fence-method-open-${port}`, properties({ ...method, action: 'on' }));
    }
  };
}

const DRILL = `driver:${CSI_DRIVER}`;

function story(more: Partial<ScenarioOptions>, stuckPorts: readonly string[] = []): ScenarioOptions {
  return { wrote: revoking(DRILL), agents: (world) => [storageSwitch(world, STORAGE, stuckPorts)], ...more };
}

/** The first event of its kind; -1 when there is none. */
function place(world: World, is: (event: TraceEvent) => boolean): number {
  return world.witness.trace.findIndex(is);
}

const isBmcOff = (event: TraceEvent): boolean => event.kind === 'device' && event.storage === undefined && event.want === 'off';
const isOpening = (event: TraceEvent): event is DeviceEvent => event.kind === 'device' && event.storage !== undefined && event.want === 'on';
const isPodDeletion = (event: TraceEvent): event is ApiEvent =>
  event.kind === 'api' && event.user === CONTROLLER_USER && event.verb === 'delete' && event.resource === 'pods';

describe.concurrent('storage that is revoked', () => {
  scenario(
    'lets its pods go before the machine is touched, no VolumeAttachment with them, and is opened for the next boot',
    story({}),
    async (play) => {
      const { world, operator } = play;
      const [pod = ''] = await world.podsOn('a');
      world.machine('a').panic();
      const status = await operator.seesRecovery('a');
      expect(journal(status).slice(0, 5)).toEqual([
        'close-1 off succeeded',
        'close-2 off succeeded',
        'mark-unschedulable run succeeded',
        'release release succeeded',
        'redfish-off off succeeded',
      ]);
      expect(status.storageRelease).toMatchObject({ pods: 1, storages: [STORAGE], names: [`default/${pod}`] });
      expect(status.evidence[0]).toMatchObject({ kind: 'storage-revoked', grade: 'read-back', storages: [STORAGE] });
      expect(world.witness.releases()[0]).toBe(`delete pods ${pod}`);
      expect(world.witness.releases().join()).not.toContain('volumeattachments');
      expect(place(world, isPodDeletion)).toBeLessThan(place(world, isBmcOff));
      const lastBoot = world.witness.trace.findLastIndex((event) => event.kind === 'node' && event.node === 'a' && event.what === 'boot');
      expect(lastBoot).toBeGreaterThan(place(world, isBmcOff));
      expect(place(world, isOpening)).toBeGreaterThan(lastBoot);
      expect(status.restore).toBeUndefined();
    },
  );

  scenario(
    'is not opened for a node that is Ready again on the same boot: that is switched off first',
    story({ wrote: revoking(DRILL, { power_management_delay: '5s' }) }),
    async ({ world, operator }) => {
      world.machine('a').partition();
      await operator.sees('a', 'let go by its storage', ({ storageRelease }) => storageRelease !== undefined);
      world.machine('a').heal();
      const status = await operator.seesRecovery('a');
      expect(journal(status)).toContain('redfish-off off succeeded');
      expect(place(world, isOpening)).toBeGreaterThan(place(world, isBmcOff));
      expect(status.frozen?.bootID).toBe(status.storageRelease?.bootID);
    },
  );

  scenario(
    'lets nobody go whose volume is on another storage',
    story({ wrote: revoking('driver:another.example.org') }),
    async ({ world, operator }) => {
      world.machine('a').panic();
      const status = await operator.seesRecovery('a');
      expect(status.storageRelease).toBeUndefined();
      expect(status.journal.find(({ operation }) => operation === 'release')?.message).toContain('0 pods');
      expect(place(world, isPodDeletion), 'the verified off lets it go, not the storage').toBeGreaterThan(place(world, isBmcOff));
      expect(place(world, isBmcOff)).toBeGreaterThan(-1);
    },
  );

  scenario('is no proof while one of its paths is open', story({}, ['a/1']), async ({ world, operator }) => {
    world.machine('a').panic();
    const status = await operator.seesFailure('a');
    expect(journal(status)[0]).toBe('close-1 off timeout');
    expect(status.evidence).toEqual([]);
    expect(world.witness.releases()).toEqual([]);
  });
});
