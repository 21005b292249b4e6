import { afterEach, describe, expect, it } from 'vitest';

import { startTestProcess, TEST_PASSWORD } from '../../src/testbed/devices/ipmi/test-process.ts';
import { TEST_UUID } from '../../src/testbed/devices/ipmi/rmcp/test-device.ts';
import { AgentError, type Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { IpmiAgent } from './agent.ts';
import { areProgramsThere, shellsOf, until } from './testing/ipmi-simulator.ts';

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

async function startBy(transport: 'native' | 'ipmitool', ...[protocol, configuration]: Parameters<typeof startTestProcess>) {
  const bmc = await startTestProcess(protocol, configuration);
  const agent = new IpmiAgent(new SystemClock());
  cleanUp.push(
    () => bmc.stop(),
    () => agent.close(),
  );
  const target = (parameters: Record<string, string> = {}, changes: Partial<Target> = {}): Target => ({
    plug: '',
    device: `127.0.0.1:${bmc.ready.port}`,
    parameters: { ip: '127.0.0.1', ipport: String(bmc.ready.port), username: 'admin', password: TEST_PASSWORD, transport, ...parameters },
    identity: { node: 'a', systemUUID: TEST_UUID },
    signal: new AbortController().signal,
    deadlineMs: 20_000,
    beforeSend: () => undefined,
    ...changes,
  });
  return { bmc, agent, target };
}

/** Undefined where the network swallowed too much of a call. */
async function unlessUnheard<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof AgentError && (error.kind === 'Unreachable' || error.kind === 'Timeout')) return undefined;
    throw error;
  }
}

describe.skipIf(!areProgramsThere).each(['native', 'ipmitool'] as const)(
  'against the BMCs of the drill, by %s',
  { timeout: 150_000 },
  (transport) => {
    const start = (...options: Parameters<typeof startTestProcess>) => startBy(transport, ...options);

    it.each([
      ['ipmi', '17'],
      ['ipmi', '3'],
      ['ipmi-sim', '3'],
    ] as const)('proves the machine, switches it off and on in one session: protocol %s, suite %s', async (protocol, cipher) => {
      const { bmc, agent, target } = await start(protocol);
      expect(await agent.read(target({ cipher }))).toMatchObject({ state: 'on', identity: 'verified' });
      expect(await agent.set(target({ cipher }), 'off')).toMatchObject({ result: 'accepted' });
      await until(async () => (await agent.read(target({ cipher }))).state === 'off', 'off');
      expect(await agent.set(target({ cipher }), 'on')).toMatchObject({ result: 'accepted' });
      await until(async () => (await agent.read(target({ cipher }))).state === 'on', 'on');
      expect(bmc.powerEvents().map(({ state, cause }) => `${state} by ${cause}`)).toEqual(['on by start', 'off by set', 'on by set']);
      const events = bmc.deviceEvents();
      expect(new Set(events.map(({ session }) => session)).size).toBe(1);
      const actions = events.map(({ action }) => action);
      expect(actions.slice(0, 2)).toEqual(['login', 'identity']);
      // A shell may have found another BMC since: there the identity is read anew right before each set. A session of ours cannot.
      const beforeSets = actions.filter((_action, index) => actions[index + 1] === 'set');
      expect(beforeSets).toEqual(transport === 'ipmitool' ? ['identity', 'identity'] : [expect.any(String), expect.any(String)]);
      expect(shellsOf(bmc.ready.port)).toHaveLength(transport === 'ipmitool' ? 1 : 0);
    });

    it('uses the key that a BMC demands, and is refused without it', async () => {
      const { agent, target } = await start('ipmi', { kg: 'key of the bmc' });
      expect(await agent.read(target({ kg: 'key of the bmc' }))).toMatchObject({ state: 'on', identity: 'verified' });
      expect(await agent.read(target({ hexadecimal_kg: Buffer.from('key of the bmc').toString('hex') }))).toMatchObject({ state: 'on' });
      await expect(agent.read(target())).rejects.toMatchObject({ name: 'AgentError' });
    });

    it('makes the machine dump, and shows the event log that tells of it', async () => {
      const { bmc, agent, target } = await start('ipmi');
      let asked = 0;
      expect(await agent.diagnose(target({}, { beforeSend: () => (asked += 1) }))).toEqual({
        result: 'accepted',
        detail: 'Chassis Power Control: Diag',
      });
      expect(asked).toBe(1);
      await agent.set(target(), 'off');
      const [diagnostic] = await agent.failureDiagnostics(target());
      expect(diagnostic).toMatchObject({ name: 'sel', mediaType: 'text/plain' });
      const lines = Buffer.from(diagnostic?.content ?? [])
        .toString()
        .split('\n');
      expect(lines[0]).toMatch(/^0x0001 \d{4}-\d\d-\d\dT[\d:.]+Z Critical Interrupt 0x02 asserted: event 0x6f, data 00 ff ff$/);
      expect(lines[1]).toMatch(/^0x0002 .*Z Power Unit 0x01 asserted: event 0x6f, data 00 ff ff$/);
      expect(
        bmc
          .deviceEvents()
          .filter(({ action }) => action === 'set')
          .map(({ answer }) => answer),
      ).toEqual(['00 diag', '00 down']);
    });

    it('switches no machine but its own', async () => {
      const { bmc, agent, target } = await start('ipmi');
      const other = target({}, { identity: { node: 'b', systemUUID: '4c4c4544-0030-5210-8047-c6c04f5a4333' } });
      for (const call of [() => agent.set(other, 'off'), () => agent.diagnose(other), () => agent.failureDiagnostics(other)])
        await expect(call()).rejects.toMatchObject({ kind: 'Misconfigured' });
      expect(bmc.deviceEvents().filter(({ action }) => action === 'set')).toEqual([]);
    });

    it.each([
      ['loses', { drops: 0.08 }],
      ['repeats', { duplicates: 1 }],
      ['delays', { lateMs: 80 }],
    ])('shows off only when it is off, over a network that %s datagrams', async (_what, faults) => {
      const { bmc, agent, target } = await start('ipmi', { faults });
      for (const wanted of ['off', 'on'] as const) {
        await until(async () => {
          // All datagrams of a set may be lost: it is sent again, as the core would.
          await unlessUnheard(agent.set(target(), wanted));
          for (let reads = 0; reads < 5; reads += 1) {
            const before = bmc.powerEvents().at(-1)?.state;
            const state = (await unlessUnheard(agent.read(target())))?.state ?? 'unknown';
            // The machine may change while it is being read.
            expect(['unknown', before, bmc.powerEvents().at(-1)?.state]).toContain(state);
            if (state === wanted) return true;
          }
          return false;
        }, wanted);
      }
    });

    it('believes the state and not the refusal of a BMC that does nothing twice', async () => {
      const { agent, target } = await start('ipmi', { faults: { refusesWhenInState: true } });
      expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
      await until(async () => (await agent.read(target())).state === 'off', 'off');
      const outcome = await agent.set(target(), 'off');
      expect(outcome.result).toBe('unclear');
      expect(outcome.detail).toMatch(/failed: .*; then Chassis Power is off$/);
    });

    it('reads nothing from a BMC that hangs on the supply of its machine, once that is off', async () => {
      const { bmc, agent, target } = await start('ipmi', { faults: { diesWithHost: true } });
      expect(await agent.read(target())).toMatchObject({ state: 'on' });
      await agent.set(target({}, { deadlineMs: 5_000 }), 'off');
      await until(() => bmc.powerEvents().at(-1)?.state === 'off', 'off');
      await expect(agent.read(target({}, { deadlineMs: 2_000 }))).rejects.toMatchObject({ kind: 'Timeout' });
    });
  },
);
