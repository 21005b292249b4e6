import { afterAll, describe, expect, it } from 'vitest';

import { PduDevice } from '../../src/testbed/devices/snmp/pdu-device.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { PduAgent } from './agent.ts';
import { areHere, runFenceAgent, targetOf } from './testing/fixture.ts';

const clock = new SystemClock();
const closing: (() => Promise<void>)[] = [];
// In the end: tests run at once.
afterAll(async () => {
  for (const close of closing) await close();
});

/** Devices that the agents of ClusterLabs know by themselves, and how they write an outlet. */
const CASES = [
  { program: 'fence_apc_snmp', kind: 'apc-rpdu', theirs: '2', ours: '2' },
  { program: 'fence_apc_snmp', kind: 'apc-masterswitch', theirs: '2', ours: '2' },
  { program: 'fence_apc_snmp', kind: 'apc-masterswitch-plus', theirs: '1:2', ours: '1:2' },
  { program: 'fence_tripplite_snmp', kind: 'tripplite', theirs: '2', ours: '2' },
  { program: 'fence_tripplite_snmp', kind: 'tripplite-lx', theirs: '2', ours: '2' },
  { program: 'fence_eaton_snmp', kind: 'eaton-managed', theirs: '2', ours: '2' },
  { program: 'fence_eaton_snmp', kind: 'eaton-pulizzi', theirs: '2', ours: '2' },
];

/** Exit codes of a `status` (FenceAgentAPI): 0 on, 2 off. */
const STATUS_CODES = { on: 0, off: 2 } as const;

describe.skipIf(!areHere('fence_apc_snmp', 'fence_eaton_snmp', 'fence_tripplite_snmp', 'snmpget'))(
  'the agents of ClusterLabs as a second opinion (Debian: fence-agents, snmp)',
  () => {
    it.concurrent.each(CASES)(
      '$program reads what we set on $kind, and we read what it sets',
      { timeout: 120_000 },
      async ({ program, kind, theirs, ours }) => {
        const device = await PduDevice.start({ kind, clock, outlets: [{ number: 1 }, { number: 2 }, { number: 3 }] });
        const agent = new PduAgent(clock);
        closing.push(
          () => agent.close(),
          () => device.close(),
        );
        const target = targetOf(device.port, ours, { community: 'private', snmp_version: '1' });
        const ask = (action: string): Promise<{ code: number | null; words: string }> =>
          runFenceAgent(program, {
            action,
            ip: '127.0.0.1',
            ipport: String(device.port),
            community: 'private',
            snmp_version: '1',
            plug: theirs,
            power_wait: '0',
          });
        for (const state of ['off', 'on'] as const) {
          await agent.set(target, state);
          expect(await ask('status')).toMatchObject({ code: STATUS_CODES[state] });
        }
        for (const state of ['off', 'on'] as const) {
          expect(await ask(state)).toMatchObject({ code: 0 });
          expect((await agent.read(target)).state).toBe(state);
        }
        expect(device.commands.map(({ outlet, wanted }) => `${outlet.number} ${wanted}`)).toEqual(['2 off', '2 on', '2 off', '2 on']);
      },
    );
  },
);
