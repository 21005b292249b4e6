import { afterEach, describe, expect, it } from 'vitest';

import { standardRegistry } from '../../agents/registry.ts';
import { has, startTestProcess, TEST_PASSWORD, until } from '../../src/testbed/devices/ipmi/test-process.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import type { PowerAgent, Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';

type Bmc = Awaited<ReturnType<typeof startTestProcess>>;
const started: Bmc[] = [];
afterEach(async () => {
  for (const bmc of started.splice(0)) await bmc.stop();
});

async function start(program: string, protocol: 'redfish' | 'ipmi', more: Record<string, string>) {
  const bmc = await startTestProcess(protocol);
  started.push(bmc);
  const definition = standardRegistry({ kind: 'folder', path: '/usr/sbin' }).find(`exec/${program}`);
  if (definition === undefined) throw new Error(`${program} is not installed`);
  const parameters = { ip: '127.0.0.1', ipport: String(bmc.ready.port), username: 'admin', password: TEST_PASSWORD, ...more };
  expect(definition.check(parameters, true)).toEqual([]);
  const agent = (await definition.create({ cluster: {} as Cluster, clock: new SystemClock() })) as PowerAgent;
  const target = (changes: Partial<Target> = {}): Target => ({
    plug: '',
    device: definition.deviceKey(parameters),
    parameters,
    identity: { node: 'a' },
    signal: new AbortController().signal,
    deadlineMs: 60_000,
    beforeSend: () => undefined,
    ...changes,
  });
  return { bmc, agent, target, parameters };
}

/** The last of several systems is theirs; with the path given there is nothing to choose. */
const REDFISH = { ssl_insecure: 'yes', systems_uri: '/redfish/v1/Systems/1' };
const IPMI = { lanplus: 'yes', cipher: '3', power_wait: '0', accept_known_faults: 'yes' };

describe.skipIf(!has('fence_redfish') || !has('fence_ipmilan') || !has('ipmitool'))(
  'a program of Debian before an emulated BMC',
  { timeout: 240_000 },
  () => {
    it.each([
      ['fence_redfish', 'redfish', REDFISH],
      ['fence_ipmilan', 'ipmi', IPMI],
    ] as const)('%s: on, off and on again, as the machine itself sees it', async (program, protocol, more) => {
      const { bmc, agent, target } = await start(program, protocol, more);
      expect(await agent.read(target())).toEqual({ state: 'on', detail: 'Status: ON', identity: 'unverified' });
      expect(await agent.set(target(), 'off')).toMatchObject({ result: 'accepted' });
      await until('off', async () => (await agent.read(target())).state === 'off');
      expect(bmc.powerEvents().at(-1)).toMatchObject({ state: 'off', cause: 'set' });
      expect(await agent.set(target(), 'on')).toMatchObject({ result: 'accepted' });
      expect(bmc.powerEvents().map(({ state }) => state)).toEqual(['on', 'off', 'on']);
    });

    it.each([
      ['fence_redfish', 'redfish', REDFISH],
      ['fence_ipmilan', 'ipmi', IPMI],
    ] as const)('%s with a wrong password: no state, nothing switched, no secret told', async (program, protocol, more) => {
      const { bmc, agent, target, parameters } = await start(program, protocol, more);
      const wrong = target({ parameters: { ...parameters, password: 'wrong-pass' } });
      const said = await agent.read(wrong).then(
        ({ state, detail }) => `${state}: ${detail}`,
        (error: unknown) => String(error),
      );
      expect(said).not.toMatch(/^(on|off)|wrong-pass/);
      const ended = await agent.set(wrong, 'off').then(JSON.stringify, String);
      expect(ended).not.toContain('wrong-pass');
      expect(bmc.powerEvents().map(({ state }) => state)).toEqual(['on']);
    });
  },
);
