import { readFileSync } from 'node:fs';

import { afterEach, describe, expect, it } from 'vitest';

import { startBmcHarness, type BmcHarness } from '../../src/testbed/devices/bmc/bmc-harness.ts';
import type { BmcFaults } from '../../src/testbed/devices/bmc/faults.ts';
import type { Target } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { RedfishAgent } from './agent.ts';
import { advertised, type AdvertisedAction } from './action.ts';
import { RESET_ACTION, resetType } from './reset.ts';
import { deviceMessage, isObject, type JsonObject } from './words.ts';

function fixture(path: string): JsonObject {
  const parsed: unknown = JSON.parse(readFileSync(new URL(`./fixtures/${path}`, import.meta.url), 'utf8'));
  if (!isObject(parsed)) throw new Error(`${path} is no JSON object`);
  return parsed;
}

/** A tree of the files given, under the paths they name themselves. */
function tree(...paths: string[]): Record<string, JsonObject> {
  return Object.fromEntries(paths.map((path) => [String(fixture(path)['@odata.id']).replace(/\/$/, ''), fixture(path)]));
}

const DEVICES = [
  { name: 'DMTF rack-mount mock-up', files: ['dmtf/root.json', 'dmtf/systems.json', 'dmtf/system.json', 'dmtf/chassis.json'], witness: true },
  { name: 'Dell R6515', files: ['dell/root.json', 'dell/systems.json', 'dell/system.json'], witness: false },
  { name: 'Lenovo SR650', files: ['lenovo/root.json', 'lenovo/systems.json', 'lenovo/system.json', 'lenovo/chassis.json'], witness: true },
];

const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(files: readonly string[], faults: BmcFaults = {}): Promise<{ bmc: BmcHarness; agent: RedfishAgent; target: Target }> {
  const bmc = await startBmcHarness({ resources: tree(...files), faults });
  const agent = new RedfishAgent(new SystemClock());
  open.push(
    () => bmc.close(),
    () => agent.close(),
  );
  const system = files.find((file) => file.endsWith('/system.json')) ?? '';
  const target: Target = {
    plug: '',
    device: 'fixture',
    parameters: bmc.parameters,
    identity: { node: 'a', systemUUID: String(fixture(system)['UUID']) },
    signal: new AbortController().signal,
    deadlineMs: 5_000,
    beforeSend: () => undefined,
  };
  return { bmc, agent, target };
}

describe.each(DEVICES)('$name', ({ files, witness }) => {
  it('is identified, switched off and read back off, then switched on', async () => {
    const { bmc, agent, target } = await start(files);
    expect(await agent.read(target)).toMatchObject({ state: 'on', identity: 'verified' });
    await agent.set(target, 'off');
    expect(bmc.machine.state()).toBe('off');
    const reading = await agent.read(target);
    expect(reading.state).toBe('off');
    expect(reading.witness?.state).toBe(witness ? 'off' : undefined);
    await agent.set(target, 'on');
    expect((await agent.read(target)).state).toBe('on');
  });
});

describe('the DMTF mock-up', () => {
  const files = ['root', 'systems', 'system', 'chassis', 'manager', 'system-logs', 'log', 'log-entries'].map((name) => `dmtf/${name}.json`);

  it('takes every reset with 204 and stays on, as its own server does: never off', async () => {
    const { bmc, agent, target } = await start(files, { ignoresReset: true });
    expect(await agent.set(target, 'off')).toMatchObject({ result: 'accepted', detail: 'HTTP 204' });
    for (let read = 0; read < 5; read += 1) expect(await agent.read(target)).toMatchObject({ state: 'on', witness: { state: 'on' } });
    expect(bmc.device.commands).toEqual([{ plug: '', wanted: 'off' }]);
  });

  it('shows its log', async () => {
    const { agent, target } = await start(files);
    const [log] = await agent.failureDiagnostics(target);
    expect(new TextDecoder().decode(log?.content).split('\n').slice(1, 3)).toEqual([
      '2012-03-07T14:44:00Z Critical 0x592A28 Temperature threshold exceeded',
      '2012-03-07T14:45:00Z Critical 0x592E28 Temperature threshold exceeded',
    ]);
  });
});

function resetAction(resource: JsonObject): AdvertisedAction | undefined {
  return advertised(resource, RESET_ACTION, 'ResetType');
}

describe('reset types', () => {
  const off = (allowed: readonly string[] | undefined): string | undefined => resetType(allowed, 'off');

  it.each(['dmtf', 'dell', 'lenovo', 'sushy'])('are found in the capture of %s', (name) => {
    const action = resetAction(fixture(`${name}/system.json`));
    expect(action?.target).toMatch(/\/Actions\/ComputerSystem\.Reset$/);
    expect(off(action?.allowed)).toBe('ForceOff');
    expect(resetType(action?.allowed, 'on')).toBe('On');
  });

  it('are tried where a device lists none', () => {
    expect(off(undefined)).toBe('ForceOff');
    expect(resetAction({ Actions: { '#ComputerSystem.Reset': { target: '/x', 'ResetType@Redfish.AllowableValues': [] } } })?.allowed).toBeUndefined();
  });

  it('are only advice where words are run together, as Supermicro 1.14 does', () => {
    expect(off(['On', 'ForceOff', 'GracefulShutdownGracefulRestart', 'ForceRestart', 'Nmi', 'ForceOn'])).toBe('ForceOff');
    expect(off(['On', 'GracefulShutdownGracefulRestart', 'ForceRestart'])).toBe('ForceOff');
    expect(off(['On', 'ForceOffGracefulShutdown'])).toBe('ForceOff');
  });

  it('are believed when a sound list has no ForceOff, whatever else it has', () => {
    expect(off(['On', 'GracefulShutdown', 'PushPowerButton', 'ForceRestart', 'PowerCycle'])).toBeUndefined();
    expect(off(['On', 'Off', 'GracefulShutdown'])).toBeUndefined();
    expect(resetType(['ForceOff', 'ForceOn'], 'on')).toBe('ForceOn');
    expect(resetType(['ForceOff', 'PushPowerButton'], 'on')).toBeUndefined();
  });

  it('are never those that ask, toggle or start a machine', () => {
    for (const list of [undefined, ['GracefulShutdown'], ['PushPowerButton', 'ForceOff'], ['ForceRestart', 'x'], ['SomethingElse']]) {
      expect(['ForceOff', undefined]).toContain(off(list));
      expect(['On', 'ForceOn', undefined]).toContain(resetType(list, 'on'));
    }
  });

  it('need a target that the device advertises', () => {
    expect(resetAction({ '@odata.id': '/redfish/v1/Systems/1' })).toBeUndefined();
    expect(resetAction({ Actions: { '#ComputerSystem.Reset': { target: null } } })).toBeUndefined();
    expect(resetAction({ Actions: { '#ComputerSystem.Reset': { target: 'https://other.example/redfish/v1/Systems/1/Reset' } } })?.target).toBe(
      '/redfish/v1/Systems/1/Reset',
    );
  });
});

describe('the words of a device', () => {
  it('are its extended messages, each once, bounded', () => {
    const words = deviceMessage(fixture('sushy/error.json'), []);
    expect(words).toContain('Base.1.0.PropertyValueNotInList: The value Red');
    expect(words.length).toBeLessThanOrEqual(300);
    expect(deviceMessage(fixture('sushy/session_error.json'), [])).toContain('Base.1.0.NoValidSession');
  });

  it('are found where the list has lost its brackets', () => {
    expect(deviceMessage(fixture('sushy/error_single_ext_info.json'), [])).toContain('Base.1.5.GeneralError: A general error');
  });

  it('are one printable line without secrets', () => {
    expect(deviceMessage({ error: { message: 'no\r\n\u0007 hunter22 \u202Ehere' } }, ['hunter22'])).toBe('no *** here');
    expect(deviceMessage('text', [])).toBe('');
    expect(deviceMessage(null, [])).toBe('');
  });
});
