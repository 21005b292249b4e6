import { describe, expect } from 'vitest';
import type { JobResult, NodeFenceStatus } from '../../src/domain/node-fence.ts';
import type { BmcOddities } from './bmc.ts';
import { newUuid } from './bmc.ts';
import { condition, journal } from './operator.ts';
import { scenario } from './scenario.ts';
import type { Play } from './scenario.ts';

/** The off came to this result; nothing was freed and nothing counts as proof. Returns what the journal says of it. */
async function isNoProof({ world, operator }: Play, result: JobResult): Promise<{ status: NodeFenceStatus; words: string }> {
  const podsBefore = await world.podsOn('a');
  world.machine('a').panic();
  const status = await operator.seesFailure('a');
  const off = status.journal.find((entry) => entry.action === 'off');
  expect(off?.result).toBe(result);
  expect(status.evidence).toEqual([]);
  expect(condition(status, 'PoweredOff')).toBe('False NoProof');
  expect(condition(status, 'WorkloadReleased')).toBe('False NotReleased');
  expect(status.message).toContain('An operator must act');
  expect(status.message).toContain('Nothing was released');
  expect(world.witness.releases()).toEqual([]);
  expect(await world.podsOn('a')).toEqual(podsBefore);
  return { status, words: off?.message ?? '' };
}

/** As above, and the device was never told anything. */
async function isNeverSet(play: Play, result: JobResult): Promise<string> {
  const { status, words } = await isNoProof(play, result);
  expect(journal(status)).toEqual(['mark-unschedulable run succeeded', `redfish-off off ${result}`]);
  expect(play.world.witness.sets('a')).toEqual([]);
  expect(play.world.machine('a').state).toBe('on');
  return words;
}

/** A story about the BMC of node a. */
function withBmc(name: string, oddities: BmcOddities, play: (play: Play) => Promise<void>): void {
  scenario(name, { bmcs: { a: oddities } }, play);
}

describe.concurrent('a BMC that can not be trusted is told nothing, and nothing is released', () => {
  const stranger = newUuid();
  withBmc("the machine behind it has another system UUID than the node's", { uuid: stranger }, async (play) => {
    const words = await isNeverSet(play, 'misconfigured');
    expect(words).toContain(stranger);
    expect(words).toContain(play.world.uuid('a'));
  });

  withBmc('it knows another password', { password: 'changed by somebody' }, async (play) => {
    expect(await isNeverSet(play, 'refused')).toContain('invalid user name or password');
  });

  withBmc('its certificate is signed by somebody else', { certificate: 'foreign' }, async (play) => {
    expect(await isNeverSet(play, 'misconfigured')).toContain('give the right ca or ssl_fingerprint');
    expect(play.world.witness.deviceEvents('a')).toEqual([]);
  });

  withBmc('its certificate has expired', { certificate: 'expired' }, async (play) => {
    expect(await isNeverSet(play, 'misconfigured')).toContain('certificate has expired');
    expect(play.world.witness.deviceEvents('a')).toEqual([]);
  });

  withBmc('it accepts connections and never says a word', { faults: { isSilent: true } }, async (play) => {
    await isNeverSet(play, 'timeout');
  });

  withBmc('it reads requests and never answers', { faults: { isMute: true } }, async (play) => {
    await isNeverSet(play, 'timeout');
  });

  withBmc('it shows several Systems, and the method names none', { tree: { otherSystems: { '2': newUuid() } } }, async (play) => {
    expect(await isNeverSet(play, 'misconfigured')).toContain('systems_uri');
  });

  withBmc('it answers with cut-off JSON', { faults: { garbage: true } }, async (play) => {
    expect(await isNeverSet(play, 'unreachable')).toContain('no JSON');
  });

  withBmc('its PowerState is null', { faults: { shows: null } }, async (play) => {
    expect(await isNeverSet(play, 'unreachable')).toContain('PowerState=null');
  });

  withBmc('it has no PowerState', { faults: { shows: 'absent' } }, async (play) => {
    expect(await isNeverSet(play, 'unreachable')).toContain('PowerState absent');
  });

  withBmc('its PowerState is a word that nobody knows', { faults: { shows: 'off' } }, async (play) => {
    expect(await isNeverSet(play, 'unreachable')).toContain('PowerState=off');
  });

  withBmc('it shows no UUID at all, and identity=verified is asked for', { tree: { uuid: null } }, async (play) => {
    expect(await isNeverSet(play, 'misconfigured')).toContain('write identity=unverified');
  });
});

describe.concurrent('an answer is no proof, only the machine read off is', () => {
  withBmc('204 to the off while the machine stays on', { faults: { ignoresReset: true } }, async (play) => {
    const { words } = await isNoProof(play, 'timeout');
    expect(words).toContain('not off within 3000 ms; last read redfish-off: PowerState=On');
    expect(play.world.witness.sets('a')).toEqual(['off 204']);
    expect(play.world.machine('a').state).toBe('on');
  });

  withBmc('a Task that is accepted and never completes', { faults: { ignoresReset: true, resetStatus: 202, taskState: 'Running' } }, async (play) => {
    await isNoProof(play, 'timeout');
    expect(play.world.witness.sets('a')[0]).toBe('off 202');
  });

  withBmc('the System reads Off and its Chassis reads On', { faults: { ignoresReset: true, shows: 'Off', chassisShows: 'On' } }, async (play) => {
    const { status, words } = await isNoProof(play, 'timeout');
    expect(words).toContain('PowerState=Off, /redfish/v1/Chassis/1U PowerState=On');
    expect(status.message).toContain('LeftOff');
  });

  withBmc('the power comes back by itself before the off is stable', { faults: { restoresAfterMs: 400 } }, async (play) => {
    await isNoProof(play, 'timeout');
  });

  withBmc(
    'the off is refused by the privilege of the account',
    { faults: { failures: [{ method: 'POST', path: '/redfish/v1/Systems', status: 403, message: 'Operator privilege is needed.' }] } },
    async (play) => {
      const { words } = await isNoProof(play, 'refused');
      expect(words).toContain('Operator privilege is needed.');
      expect(play.world.witness.sets('a')).toEqual(['off 403']);
    },
  );
});

describe.concurrent('a BMC that is odd and honest is enough', () => {
  withBmc(
    '500 to an off that has its effect',
    { faults: { failures: [{ method: 'POST', path: '/redfish/v1/Systems', status: 500, withEffect: true, times: 1 }] } },
    async ({ world, operator }) => {
      world.machine('a').panic();
      const status = await operator.seesRecovery('a');
      expect(status.evidence[0]?.kind).toBe('power-off');
      expect(await world.podsOn('a')).toEqual([]);
    },
  );

  withBmc('400 to an off of a machine that is off already', { faults: { refusesWhenInState: true } }, async ({ world, operator }) => {
    world.machine('a').powerOff('panic');
    const status = await operator.seesRecovery('a');
    expect(journal(status)).toContain('redfish-off off succeeded');
    expect(world.witness.sets('a')).toEqual(['off 400', 'on 204']);
  });
});
