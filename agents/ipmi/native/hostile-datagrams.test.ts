import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';

import { startTestServer } from '../../../src/testbed/devices/ipmi/rmcp/test-server.ts';
import { TEST_UUID } from '../../../src/testbed/devices/ipmi/rmcp/test-device.ts';
import { AgentError, type Target } from '../../../src/ports/agents.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { IpmiAgent } from '../agent.ts';
import { QuickClock } from '../testing/quick-clock.ts';
import { handshakePayload, plainMessage, securedPacket, sessionPacket } from './datagram.ts';
import { handshakeAnswer, openedSession } from './handshake.ts';
import { responseTo } from './message.ts';
import { SUITES } from './suites.ts';

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

/** A wait of a second takes 2 ms where silence is what a test waits for. */
const TIMES = 500;

const bytes = fc.uint8Array({ maxLength: 80 }).map((array) => Buffer.from(array));
const HEADERS = ['', '0600ff07', '0600ff0706', '0600ff0706c0', '0600ff070613', '0600ff070000000000000000'].map((hex) => Buffer.from(hex, 'hex'));
const anything = fc.tuple(fc.constantFrom(...HEADERS), bytes).map(([header, rest]) => Buffer.concat([header, rest]));

/** What becomes of an answer on its way. Never the answer itself. */
type Damage = (answer: Buffer) => Buffer;
const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })).map(([place, flip]): Damage => {
    return (answer) => {
      const index = place % (answer.length - 2);
      // Bytes 1 and 2 are reserved and the sequence number of RMCP: nothing covers them and nobody looks at them.
      return Buffer.from(answer.map((byte, at) => (at === (index === 0 ? 0 : index + 2) ? byte ^ flip : byte)));
    };
  }),
  fc.nat().map(
    (place): Damage =>
      (answer) =>
        answer.subarray(0, place % answer.length),
  ),
  bytes
    .filter((more) => more.length > 0)
    .map(
      (more): Damage =>
        (answer) =>
          Buffer.concat([answer, more]),
    ),
  anything.map(
    (noise): Damage =>
      () =>
        noise,
  ),
);

async function start() {
  const bmc = await startTestServer();
  const clock = new QuickClock(new SystemClock());
  const agent = new IpmiAgent(clock, { path: '/nonexistent' });
  cleanUp.push(bmc.close, () => agent.close());
  const target: Target = {
    plug: '',
    device: 'bmc',
    parameters: { ip: '127.0.0.1', ipport: String(bmc.port), username: 'admin', password: 'secret', transport: 'native' },
    identity: { node: 'a', systemUUID: TEST_UUID },
    signal: new AbortController().signal,
    deadlineMs: 20_000 * TIMES,
    beforeSend: () => undefined,
  };
  return { bmc, agent, target, clock };
}

describe('what a client hears', { timeout: 120_000 }, () => {
  it('never makes a parser throw', () => {
    fc.assert(
      fc.property(anything, fc.nat(255), (datagram, tag) => {
        const request = { netFn: 0, command: 1, data: [], sequence: tag % 64 };
        expect(responseTo(request, plainMessage(datagram) ?? datagram)).toBeUndefined();
        const answer = handshakeAnswer(handshakePayload(datagram, 0x11) ?? datagram, tag, 1);
        if (answer !== undefined) openedSession(answer, SUITES['17']);
        securedPacket(datagram, sessionPacket(datagram)?.sessionID ?? 0);
      }),
      { numRuns: 3_000 },
    );
  });

  it('is believed in a session only as the BMC sent it', async () => {
    const { bmc, agent, target, clock } = await start();
    await fc.assert(
      fc.asyncProperty(damage, fc.boolean(), async (spoil, isOn) => {
        bmc.machine[isOn ? 'on' : 'off']('set');
        bmc.wire.hears = (answer) => [answer];
        clock.times = 1;
        expect((await agent.read(target)).state).toBe(isOn ? 'on' : 'off');
        bmc.wire.hears = (answer) => [spoil(answer)];
        clock.times = TIMES;
        const said = await agent.read(target).then(
          ({ state }) => state,
          (reason: unknown) => (reason instanceof AgentError ? reason.kind : String(reason)),
        );
        // The session is lost, and what spoils its answers spoils those of the next login.
        expect(['Unreachable', 'Refused', 'Misconfigured']).toContain(said);
      }),
      { numRuns: 60 },
    );
  });

  it('before the true answer does no harm', async () => {
    const { bmc, agent, target } = await start();
    await fc.assert(
      fc.asyncProperty(fc.array(damage, { maxLength: 4 }), fc.boolean(), async (spoils, isOn) => {
        bmc.machine[isOn ? 'on' : 'off']('set');
        bmc.wire.hears = (answer) => [answer];
        await agent.read(target);
        bmc.wire.hears = (answer) => [...spoils.map((spoil) => spoil(answer)), answer];
        expect(await agent.read(target)).toMatchObject({ state: isOn ? 'on' : 'off', identity: 'verified' });
        expect(await agent.set(target, isOn ? 'off' : 'on')).toMatchObject({ result: 'accepted' });
      }),
      { numRuns: 60 },
    );
  });

  it('during the login opens no session, or the right one, and never hangs', async () => {
    const { bmc, agent, target, clock } = await start();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(damage), { minLength: 1, maxLength: 6 }), async (spoils) => {
        clock.times = TIMES;
        await agent.close();
        bmc.device.login.sessions.endAll();
        let answered = 0;
        bmc.wire.hears = (answer) => [(spoils[answered++] ?? ((whole: Buffer) => whole))(answer)];
        const said = await agent.read(target).then(
          ({ state, identity }) => `${state} ${identity}`,
          (reason: unknown) => (reason instanceof AgentError ? reason.kind : String(reason)),
        );
        expect(['on verified', 'Unreachable', 'Refused', 'Misconfigured']).toContain(said);
      }),
      { numRuns: 60 },
    );
  });
});
