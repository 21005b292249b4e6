import type { ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { AgentError } from '../../src/ports/agents.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { PduAgent } from './agent.ts';
import { areHere, freePort, runFenceAgent, startProgram, targetOf } from './testing/fixture.ts';

/** Walks of real devices; their licence keeps them out of the project, so they are used where they lie. */
const WALKS = join(process.env['NODEFENCE_SHARED_DATA'] ?? new URL('../../../shared/data', import.meta.url).pathname, 'snmprec');
const CONTROLS: Readonly<Record<string, readonly string[]>> = {
  apc_ap7900b: ['1.3.6.1.4.1.318.1.1.4.4.2.1.3.'],
  apc_apdu9959eu3: ['1.3.6.1.4.1.318.1.1.4.4.2.1.3.'],
  apc_masterswitch2: ['1.3.6.1.4.1.318.1.1.4.4.2.1.3.'],
  eatonpdu_2: ['1.3.6.1.4.1.534.6.6.7.6.6.1.3.', '1.3.6.1.4.1.534.6.6.7.6.6.1.4.'],
  poweralert_pdu: [],
  'raritan-pdu_px2-temp': [],
  sentry3_switched: [],
  'hpe-mapdu_pdu2': [],
  'vertiv-pdu_mg02e4w1': [],
};
const USER = { username: 'fencer', password: 'authentication', snmp_priv_passwd: 'private words' };

const clock = new SystemClock();
const isPossible = existsSync(WALKS) && areHere('snmpsimd', 'fence_apc_snmp', 'snmpget');

describe.skipIf(!isPossible)(`recorded walks of real PDUs behind Debian's snmpsim (skipped where the walks or the program are missing)`, () => {
  let folder = '';
  let port = 0;
  let simulator: ChildProcess | undefined;
  const agent = new PduAgent(clock);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'snmpsim-'));
    for (const part of ['data', 'cache']) mkdirSync(join(folder, part));
    for (const path of [folder, join(folder, 'data'), join(folder, 'cache')]) chmodSync(path, 0o777);
    for (const [name, prefixes] of Object.entries(CONTROLS)) {
      const lines = readFileSync(join(WALKS, `${name}.snmprec`), 'utf8').split('\n');
      const writable = lines.map((line) =>
        prefixes.some((prefix) => line.startsWith(prefix)) ? line.replace(/\|2\|(.*)$/, '|2:writecache|value=$1') : line,
      );
      writeFileSync(join(folder, 'data', `${name}.snmprec`), writable.join('\n'));
    }
    port = await freePort();
    simulator = startProgram('snmpsimd', [
      ...(process.getuid?.() === 0 ? ['--process-user=nobody', '--process-group=nogroup'] : []),
      `--cache-dir=${join(folder, 'cache')}`,
      `--data-dir=${join(folder, 'data')}`,
      `--variation-module-options=writecache:file:${join(folder, 'cache', 'written.db')}`,
      `--agent-udpv4-endpoint=127.0.0.1:${port}`,
      `--v3-user=${USER.username}`,
      `--v3-auth-key=${USER.password}`,
      '--v3-auth-proto=SHA256',
      `--v3-priv-key=${USER.snmp_priv_passwd}`,
      '--v3-priv-proto=AES256BLMT',
    ]);
    for (let tries = 0; ; tries++) {
      try {
        await agent.read(targetOf(port, '1', { community: 'apc_masterswitch2', snmp_timeout: '0.5' }));
        return;
      } catch (error) {
        if (tries > 60 || !(error instanceof AgentError) || error.kind === 'Misconfigured') throw error;
        await pause(200);
      }
    }
  }, 120_000);

  afterAll(async () => {
    await agent.close();
    simulator?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  const targetFor = (walk: string, plug: string): ReturnType<typeof targetOf> => targetOf(port, plug, { community: walk });

  it.each([
    ['apc_ap7900b', 8, 'NAS PSU'],
    ['apc_apdu9959eu3', 24, undefined],
    ['apc_masterswitch2', 8, undefined],
    ['eatonpdu_2', 24, undefined],
    ['poweralert_pdu', 24, 'Load 1'],
  ])('lists the outlets of %s: %i', async (walk, count, first) => {
    const list = await agent.list(targetFor(walk, ''));
    expect(list).toHaveLength(count);
    expect(list[0]).toMatchObject(first === undefined ? {} : { alias: first });
    expect(list.filter(({ state }) => state !== 'on' && state !== 'off')).toEqual([]);
  });

  it.each(['apc_ap7900b', 'apc_masterswitch2'])('switches an outlet of %s, and fence_apc_snmp says the same', { timeout: 120_000 }, async (walk) => {
    const target = targetFor(walk, '3');
    const others = async () => (await agent.list(targetFor(walk, ''))).filter(({ plug }) => plug !== '3');
    const before = await others();
    const ask = (action: string): ReturnType<typeof runFenceAgent> =>
      runFenceAgent('fence_apc_snmp', {
        action,
        ip: '127.0.0.1',
        ipport: String(port),
        community: walk,
        snmp_version: '2c',
        plug: '3',
        power_wait: '0',
      });
    for (const [state, code] of [
      ['off', 2],
      ['on', 0],
    ] as const) {
      expect(await agent.set(target, state)).toMatchObject({ result: 'accepted' });
      expect((await agent.read(target)).state).toBe(state);
      expect(await ask('status')).toMatchObject({ code });
    }
    expect(await ask('off')).toMatchObject({ code: 0 });
    expect((await agent.read(target)).state).toBe('off');
    expect(await others()).toEqual(before);
  });

  it('believes an Eaton that took the command no more than its state: the simulator stores seconds and switches nothing', async () => {
    const target = targetFor('eatonpdu_2', '1');
    const before = await agent.read(target);
    expect(before.state).toBe('on');
    expect(await agent.set(target, 'off')).toMatchObject({ result: 'accepted' });
    expect((await agent.read(target)).state).toBe('on');
  });

  it('reads over SNMP 3 with SHA-256 and AES-256', async () => {
    // The context of a walk is the MD5 of its name, which is apc_ap7900b.
    const reading = await agent.read(
      targetOf(port, '5', {
        ...USER,
        snmp_auth_prot: 'SHA-256',
        snmp_priv_prot: 'AES-256',
        snmp_context: createHash('md5').update('apc_ap7900b').digest('hex'),
      }),
    );
    expect(reading).toMatchObject({ state: 'on', identity: 'unverified' });
  });

  it('reads an HPE of the second generation: outlets by name, off and without current', async () => {
    const entries = await agent.list(targetFor('hpe-mapdu_pdu2', ''));
    expect(entries).toHaveLength(8);
    expect(entries[0]).toMatchObject({ alias: 'Outlet L1-1', state: 'off' });
    const [first] = entries;
    expect(await agent.read(targetFor('hpe-mapdu_pdu2', first?.plug ?? ''))).toMatchObject({
      state: 'off',
      witness: { state: 'off', detail: '0 mA' },
    });
  });

  it.each([
    ['vertiv-pdu_mg02e4w1', /has no outlet 1/],
    ['sentry3_switched', /has no outlet 1/],
  ])('refuses %s, which cannot be switched, with its own words', async (walk, words) => {
    await expect(agent.read(targetFor(walk, '1'))).rejects.toThrow(words);
  });
});
