import { readdirSync } from 'node:fs';

import { afterEach, describe, expect, it } from 'vitest';

import { childrenOf, has, isRunning, run, startTestProcess, TEST_PASSWORD, until } from './test-process.ts';
import { TEST_UUID } from './rmcp/test-device.ts';

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of cleanUp.splice(0).reverse()) await stop();
});

type Start = typeof startTestProcess;
const start: Start = async (...options) => {
  const bmc = await startTestProcess(...options);
  cleanUp.push(bmc.stop);
  return bmc;
};

const isOff = { code: 0, stdout: 'Chassis Power is off\n', stderr: '' };
const isOn = { code: 0, stdout: 'Chassis Power is on\n', stderr: '' };

describe.each(['ipmi', 'ipmi-sim'] as const)('a BMC process of protocol %s under ipmitool', { timeout: 30_000 }, (protocol) => {
  const isMissing = !has('ipmitool') || (protocol === 'ipmi-sim' && !has('ipmi_sim'));

  it.skipIf(isMissing)('shows and switches its machine, whose process is gone when off is shown', async () => {
    const { ready, child, ipmitool, deviceEvents, powerEvents } = await start(protocol);
    expect(ready).toEqual({ ready: true, host: '127.0.0.1', port: ready.port, fingerprint: '' });
    const before = childrenOf(child.pid ?? 0);
    expect(await ipmitool('chassis power status')).toEqual(isOn);
    expect((await ipmitool('mc guid')).stdout).toContain(`System GUID   : ${TEST_UUID}\n`);
    expect(await ipmitool('chassis power off')).toEqual({ code: 0, stdout: 'Chassis Power Control: Down/Off\n', stderr: '' });
    await until('it is off', async () => (await ipmitool('chassis power status')).stdout === isOff.stdout);
    expect(before.filter((pid) => !isRunning(pid))).toHaveLength(1);
    expect(await ipmitool('chassis power on')).toEqual({ code: 0, stdout: 'Chassis Power Control: Up/On\n', stderr: '' });
    await until('it is on', async () => (await ipmitool('chassis power status')).stdout === isOn.stdout);
    expect(powerEvents().map(({ state, cause }) => `${state} by ${cause}`)).toEqual(['on by start', 'off by set', 'on by set']);
    const events = deviceEvents();
    expect(new Set(events.map(({ device }) => device))).toEqual(new Set([`127.0.0.1:${ready.port}`]));
    expect(events.slice(0, 4).map(({ action, answer }) => `${action} ${answer}`)).toEqual([
      'login 00',
      'read 00 on',
      'login 00',
      `identity 00 ${TEST_UUID}`,
    ]);
    expect(events.filter(({ action }) => action === 'set').map(({ want, answer }) => `${want ?? ''}: ${answer}`)).toEqual([
      'off: 00 down',
      'on: 00 up',
    ]);
    const [off] = events.filter(({ action }) => action === 'set');
    expect(off?.at).toBeLessThanOrEqual(powerEvents()[1]?.at ?? 0);
  });

  it.skipIf(isMissing)('keeps one session through ipmitool’s shell, and names it in the trace', async () => {
    const { ipmitool, deviceEvents } = await start(protocol);
    const { stdout } = await ipmitool('shell', { input: 'chassis power status\nmc guid\nchassis power off\nexit\n' });
    for (const line of ['Chassis Power is on', 'Chassis Power Control: Down/Off']) expect(stdout.split('\n')).toContain(line);
    expect(new Set(deviceEvents().map(({ session }) => session)).size).toBe(1);
    expect(deviceEvents().map(({ action }) => action)).toEqual(['login', 'read', 'identity', 'set']);
  });

  it.skipIf(isMissing)('tells a cycle as an off and an on', async () => {
    const { ipmitool, deviceEvents, powerEvents } = await start(protocol);
    await ipmitool('chassis power cycle');
    await until('it was cycled', () => powerEvents().length === 3);
    expect(powerEvents().map(({ state }) => state)).toEqual(['on', 'off', 'on']);
    const sets = deviceEvents().filter(({ action }) => action === 'set');
    expect(sets.map(({ want, answer }) => `${want ?? ''}: ${answer}`)).toEqual(['off: 00 cycle', 'on: 00 cycle']);
  });

  it.skipIf(isMissing || protocol !== 'ipmi')('keeps an event log', async () => {
    const { ipmitool } = await start(protocol);
    for (const words of ['chassis power diag', 'chassis power off']) await ipmitool(words);
    const [diag = '', off = '', ...others] = (await ipmitool('sel list')).stdout.trimEnd().split('\n');
    expect(diag).toMatch(/^ +1 \| .* \| Critical Interrupt #0x02 \| NMI\/Diag Interrupt \| Asserted$/);
    expect(off).toMatch(/^ +2 \| .* \| Power Unit #0x01 \| Power off\/down \| Asserted$/);
    expect(others).toEqual([]);
  });

  it.skipIf(isMissing)('takes its faults from the configuration and from a command', async () => {
    const { ipmitool, powerEvents, say } = await start(protocol, { faults: 'lies' });
    expect((await ipmitool('chassis power off')).stdout).toBe('Chassis Power Control: Down/Off\n');
    expect(await ipmitool('chassis power status')).toEqual(isOn);
    expect(powerEvents()).toHaveLength(1);
    say({ command: 'faults', faults: { fails: 'get' } });
    await until('reads fail', async () => (await ipmitool('chassis power status')).stderr.includes('Get Chassis Power Status failed'));
    say({ command: 'faults', faults: { fails: 'set' } });
    await until('sets fail', async () => (await ipmitool('chassis power off')).stderr.includes('Down/Off failed: Unspecified error'));
    say({ command: 'faults', faults: 'lies-off' });
    await until('it shows off', async () => (await ipmitool('chassis power status')).stdout === isOff.stdout);
    expect(powerEvents()).toHaveLength(1);
    say({ command: 'faults', faults: 'not-answering' });
    await until('it is silent', async () =>
      (await ipmitool('chassis power status', { attempts: 1 })).stderr.includes('Unable to establish IPMI v2 / RMCP+ session'),
    );
  });

  it.skipIf(isMissing)('takes an off that comes late', async () => {
    const { ipmitool, powerEvents } = await start(protocol, { faults: { offDelayMs: 1_000 } });
    await ipmitool('chassis power off');
    const acceptedAt = performance.timeOrigin + performance.now();
    expect(await ipmitool('chassis power status')).toEqual(isOn);
    await until('it is off', async () => (await ipmitool('chassis power status')).stdout === isOff.stdout);
    expect((powerEvents()[1]?.at ?? 0) - acceptedAt).toBeGreaterThan(500);
  });

  it.skipIf(isMissing)('keeps a wrong password out, and takes another one from a command', async () => {
    const { ipmitool, deviceEvents, say } = await start(protocol);
    const refused = await ipmitool('chassis power off', { password: 'guess' });
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('Unable to establish IPMI v2 / RMCP+ session');
    expect(deviceEvents().filter(({ action, answer }) => action === 'set' || answer === '00')).toEqual([]);
    say({ command: 'password', password: 'another' });
    await until('the new one is known', async () => (await ipmitool('chassis power status', { password: 'another' })).stdout === isOn.stdout);
    expect((await ipmitool('chassis power status', { password: TEST_PASSWORD })).code).toBe(1);
  });

  it.skipIf(isMissing)('gets through a network that loses, doubles and delays datagrams', async () => {
    const { ipmitool } = await start(protocol, { seed: 7, faults: { drops: 0.05, duplicates: 0.3, lateMs: 5 } });
    await expect.poll(async () => (await ipmitool('chassis power status')).stdout, { timeout: 20_000 }).toBe(isOn.stdout);
  });

  it.skipIf(isMissing)('leaves nothing running when it is killed, nor when its input ends', async () => {
    const { child, exited } = await start(protocol);
    const started = childrenOf(child.pid ?? 0);
    expect(started).toHaveLength(protocol === 'ipmi' ? 1 : 2);
    child.kill('SIGKILL');
    await exited;
    await until('all are gone', () => started.every((pid) => !isRunning(pid)));
    const other = await start(protocol);
    const others = childrenOf(other.child.pid ?? 0);
    other.child.stdin.end();
    await other.exited;
    await until('all are gone', () => others.every((pid) => !isRunning(pid)));
    expect(readdirSync(other.folder).filter((name) => name.startsWith('ipmi-sim'))).toEqual([]);
  });
});

describe('a BMC process of protocol ipmi', { timeout: 30_000 }, () => {
  it.skipIf(!has('ipmitool'))('speaks suite 17, and tells ipmitool which suites it has', async () => {
    const { ipmitool, ready } = await start('ipmi');
    expect(await ipmitool('chassis power status', { suite: 17 })).toEqual(isOn);
    const unnamed = ['-I', 'lanplus', '-H', ready.host, '-p', String(ready.port), '-U', 'admin', '-E', 'chassis', 'power', 'status'];
    expect(await run('ipmitool', unnamed, '', { IPMI_PASSWORD: TEST_PASSWORD })).toEqual(isOn);
    expect((await ipmitool('chassis power status', { suite: 1 })).stderr).toContain('Unable to establish IPMI v2 / RMCP+ session');
  });

  it.skipIf(!has('ipmitool'))('asks for Kg where it has one', async () => {
    const { ipmitool, ready } = await start('ipmi', { kg: 'key of the bmc' });
    expect((await ipmitool('chassis power status')).code).toBe(1);
    const withKey = ['-I', 'lanplus', '-H', ready.host, '-p', String(ready.port), '-U', 'admin', '-E', '-C', '17', '-k', 'key of the bmc'];
    expect(await run('ipmitool', [...withKey, 'chassis', 'power', 'status'], '', { IPMI_PASSWORD: TEST_PASSWORD })).toEqual(isOn);
  });

  it.skipIf(!has('ipmitool'))('dies with its host', async () => {
    const { ipmitool, powerEvents } = await start('ipmi', { faults: { diesWithHost: true } });
    await ipmitool('chassis power off', { attempts: 1 });
    await until('it is off', () => powerEvents().length === 2);
    expect((await ipmitool('chassis power status', { attempts: 1 })).code).toBe(1);
  });

  it.skipIf(!has('ipmipower') || !has('ipmi-chassis'))('is understood by FreeIPMI too, with both suites', async () => {
    const { ready, powerEvents } = await start('ipmi');
    const login = (suite: number): string[] => [
      '-h',
      `127.0.0.1:${ready.port}`,
      '-u',
      'admin',
      '-p',
      TEST_PASSWORD,
      '-D',
      'LAN_2_0',
      '-I',
      String(suite),
    ];
    expect((await run('ipmipower', [...login(3), '--stat'])).stdout).toBe('127.0.0.1: on\n');
    expect((await run('ipmipower', [...login(17), '--off'])).stdout).toBe('127.0.0.1: ok\n');
    await until('it is off', () => powerEvents().length === 2);
    expect((await run('ipmi-chassis', [...login(17), '--get-chassis-status'])).stdout).toMatch(/^System Power +: off$/m);
    expect((await run('ipmipower', [...login(3), '--on'])).stdout).toBe('127.0.0.1: ok\n');
    await until('it is on', () => powerEvents().length === 3);
    expect((await run('ipmi-chassis', [...login(3), '--get-chassis-status'])).stdout).toMatch(/^System Power +: on$/m);
  });
});

describe('a BMC process', { timeout: 30_000 }, () => {
  it.each([
    ['a fault that its protocol cannot show', { faults: { garbage: true } }, 'protocol ipmi cannot show the faults garbage'],
    ['a state that no bit can say', { faults: { shows: null } }, 'shows: null cannot be said in IPMI'],
    [
      'a password that no BMC stores',
      { password: 'twenty-one-characters' },
      'password: a BMC of protocol ipmi takes at most 20 characters, this has 21',
    ],
  ])('refuses %s in clear words', async (_what, overrides, words) => {
    await expect(startTestProcess('ipmi', overrides)).rejects.toThrow(words);
  });
});
