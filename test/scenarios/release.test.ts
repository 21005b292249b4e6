import { describe, expect } from 'vitest';
import { properties, TEMPLATE } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { condition, journal } from './operator.ts';
import { scenario } from './scenario.ts';
import type { World } from './world.ts';

/** `supplies=2`: a method for each of the two BMCs, written as two plugs of the machine. */
function twoSupplies(files: Configuration, world: World): void {
  files.edit('fence-config-a', 'config.properties', (text) =>
    text.replace('redfish-off redfish-on', 'left-off right-off left-on right-on').concat('supplies=2\n'),
  );
  for (const [side, bmc] of [
    ['left', world.bmc('a')],
    ['right', world.secondBmc('a')],
  ] as const) {
    for (const action of ['off', 'on']) {
      const address = { ip: bmc.server.host, ipport: String(bmc.server.port) };
      files.write('fence-config-a', `fence-method-${side}-${action}`, properties({ template: TEMPLATE, ...address, plug: '1', action }));
    }
  }
}

describe.concurrent('what frees a workload', () => {
  scenario('release=auto sets the out-of-service taint after the proof, and takes it back before the on', {}, async ({ world, operator }) => {
    const [pod] = await world.podsOn('a');
    world.machine('a').panic();
    const status = await operator.seesRecovery('a');
    expect(journal(status)).toEqual([
      'mark-unschedulable run succeeded',
      'redfish-off off succeeded',
      'release release succeeded',
      'release-end release-end succeeded',
      'redfish-on on succeeded',
      'mark-schedulable run succeeded',
    ]);
    expect(status.released).toMatchObject({ by: 'out-of-service', pods: 1 });
    expect(status.evidence[0]).toMatchObject({ kind: 'power-off', grade: 'read-back', identity: 'verified' });
    expect(world.witness.releases(), 'it does not wait for the garbage collector').toEqual(['patch nodes a', `delete pods ${pod}`]);
    expect(await world.podsOn('b')).toContain(pod);
    expect(JSON.stringify(await operator.node('a'))).not.toContain('out-of-service');
    await operator.hears('NodeFence', 'node-fence-a', 'FencingFinished');
  });

  scenario(
    'release=delete-pods deletes the pods and their VolumeAttachments, and sets no taint',
    { wrote: (files) => files.set({ release: 'delete-pods' }) },
    async ({ world, operator }) => {
      const [pod] = await world.podsOn('a');
      world.machine('a').panic();
      const status = await operator.seesRecovery('a');
      expect(status.released).toMatchObject({ by: 'delete-pods', pods: 1 });
      const releases = world.witness.releases();
      expect(releases).toContain(`delete pods ${pod}`);
      expect(releases.some((release) => release.startsWith('delete volumeattachments'))).toBe(true);
      expect(releases.some((release) => release.includes(' nodes '))).toBe(false);
      expect(await world.podsOn('b')).toContain(pod);
    },
  );

  scenario(
    'release=none proves the off, frees nothing, and brings the node back',
    { wrote: (files) => files.set({ release: 'none' }) },
    async ({ world, operator }) => {
      world.machine('a').panic();
      const status = await operator.seesRecovery('a');
      expect(journal(status)).toEqual([
        'mark-unschedulable run succeeded',
        'redfish-off off succeeded',
        'redfish-on on succeeded',
        'mark-schedulable run succeeded',
      ]);
      expect(status.released).toBeUndefined();
      expect(world.witness.releases()).toEqual([]);
    },
  );

  scenario(
    'two supplies are both off before anything is freed, and both on afterwards',
    { secondBmcs: { a: {} }, wrote: twoSupplies, bootDelayMs: 4_000 },
    async ({ world, operator }) => {
      world.machine('a').panic();
      const status = await operator.seesRecovery('a');
      expect(journal(status).slice(1, 4)).toEqual(['left-off off succeeded', 'right-off off succeeded', 'release release succeeded']);
      // Both BMCs are before one machine: the second finds it on.
      expect(world.witness.sets('a')).toEqual(['off 204', 'off 204', 'on 204']);
      expect(journal(status).filter((run) => run.includes(' on '))).toEqual(['left-on on succeeded', 'right-on on succeeded']);
    },
  );

  scenario(
    'one of two supplies is stuck on: nothing is freed, and what was switched off is told or switched on again',
    { secondBmcs: { a: { faults: { ignoresReset: true, shows: 'On', chassisShows: 'On' } } }, wrote: twoSupplies },
    async ({ world, operator }) => {
      world.machine('a').panic();
      const status = await operator.seesFailure('a');
      expect(journal(status).slice(1, 3)).toEqual(['left-off off succeeded', 'right-off off timeout']);
      expect(status.message).toContain('right-off');
      expect(status.message).toContain('Nothing was released');
      expect(status.message).toContain('LeftOff: left-off');
      expect(condition(status, 'LeftOff')).toBe('True DeviceStillOff');
      expect(world.witness.releases()).toEqual([]);
    },
  );

  scenario(
    'one of two supplies is named only: supplies=2 with one plug is an error, and nothing is sent',
    {
      wrote: (files) => {
        files.edit('fence-config-a', 'config.properties', (text) => `${text}supplies=2\n`);
        for (const action of ['off', 'on']) files.edit('fence-config-a', `fence-method-redfish-${action}`, (text) => `${text}plug=1\n`);
      },
    },
    async ({ world, operator }) => {
      world.machine('a').panic();
      const status = await operator.seesFailure('a');
      expect(status.message).toContain('supplies=2, but 1 plug(s) are switched off: a machine with one supply left runs on');
      expect(world.witness.sets('a')).toEqual([]);
    },
  );
});
