import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { FabricAgent, Parameters, Target } from '../../src/ports/agents.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { startCommandServer, type CommandServer, type Ending } from '../../src/testbed/devices/ssh/command-server.ts';
import { scsi } from './definition.ts';

const VICTIM = '123abc01';
const KEYS = '  PR generation=0x6, 2 registered reservation keys follow:\n    0x123abc01\n    0x123abc02\n';
const WITHOUT = '  PR generation=0x7, 1 registered reservation key follows:\n    0x123abc02\n';
const RESERVED = '  PR generation=0x7, Reservation follows:\n    Key=0x123abc02\n    scope: LU_SCOPE,  type: Write Exclusive, registrants only\n';
const OTHER_BOOT = '00000000-0000-4000-8000-00000000beef';
const OWN_BOOT = '00000000-0000-4000-8000-00000000cafe';

describe('scsi on a host that answers over SSH', { timeout: 60_000 }, () => {
  let server: CommandServer;
  let agent: FabricAgent;
  let keys: Ending;
  let reservation: Ending;
  let bootID: string;
  let shutDevice: string | undefined;

  beforeEach(async () => {
    [keys, reservation, bootID] = [{ stdout: KEYS, code: 0 }, { stdout: RESERVED, code: 0 }, OTHER_BOOT];
    shutDevice = undefined;
    server = await startCommandServer((command) => {
      if (command.startsWith('cat ')) return { stdout: `${bootID}\n`, code: 0 };
      if (command.includes('fence_scsi')) return { code: 0 };
      if (command.includes(' -k ')) return shutDevice !== undefined && command.includes(shutDevice) ? { stdout: WITHOUT, code: 0 } : keys;
      return reservation;
    });
    const node = { metadata: { name: 'worker-1' }, spec: {}, status: { nodeInfo: { bootID: OWN_BOOT } } };
    const created = await scsi.create({ cluster: { get: () => Promise.resolve(node) } as unknown as Cluster, clock: new SystemClock() });
    if (created.kind !== 'fabric') throw new Error('not a fabric agent');
    agent = created;
  });
  afterEach(async () => {
    await agent.close?.();
    await server.close();
  });

  function target(parameters: Parameters = {}): Target {
    return {
      plug: '',
      device: 'scsi',
      parameters: {
        devices: '/dev/sda /dev/sdb',
        key: VICTIM,
        ip: '127.0.0.1',
        ipport: String(server.port),
        username: 'fence',
        password: 'any',
        known_hosts: server.knownHosts,
        ...parameters,
      },
      identity: { node: 'worker-1' },
      signal: new AbortController().signal,
      deadlineMs: 20_000,
      beforeSend: () => undefined,
    };
  }

  const read = () => agent.read(target());

  it('is closed where every device shows its other keys, a reservation, and the key of the node no more', async () => {
    expect(await read()).toMatchObject({ state: 'open' });
    keys = { stdout: WITHOUT, code: 0 };
    expect(await read()).toMatchObject({ state: 'closed' });
    expect(server.commands.filter((command) => command.includes('/dev/sdb'))).toHaveLength(4);
  });

  it('says that its closed proves only what was seen open before: a mistyped key is never there', () => {
    expect(agent.mustBeSeenOpen).toBe(true);
  });

  it('is open in part where the key of the node is on one of the devices only, or on none: it may be registered there under another one', async () => {
    expect(await read()).not.toHaveProperty('isOpenInPart');
    shutDevice = '/dev/sdb';
    expect(await read()).toMatchObject({ state: 'open', isOpenInPart: true });
    shutDevice = undefined;
    keys = { stdout: WITHOUT, code: 0 };
    reservation = { stdout: '  PR generation=0x7, there is NO reservation held\n', code: 0 };
    expect(await read()).toMatchObject({ state: 'open', isOpenInPart: true });
  });

  it('believes no list that is longer than what is read, whatever its beginning says', async () => {
    keys = { stdout: `${WITHOUT}${'\n'.repeat(400_000)}`, code: 0 };
    expect(await read()).toMatchObject({ state: 'unknown', detail: expect.stringContaining('more output than is read') as string });
  });

  it('believes no answer of a command that failed, or whose end was not told', async () => {
    keys = { stdout: WITHOUT, code: 1 };
    await expect(read()).rejects.toMatchObject({ kind: 'Unreachable' });
    keys = { stdout: WITHOUT, ends: 'without a word' };
    await expect(read()).rejects.toMatchObject({ kind: 'Unreachable' });
  });

  it('is asked of no host that boots as the node itself does', async () => {
    bootID = OWN_BOOT;
    await expect(read()).rejects.toMatchObject({ kind: 'Misconfigured' });
    await expect(agent.set(target(), 'closed')).rejects.toMatchObject({ kind: 'Misconfigured' });
    expect(server.commands.filter((command) => !command.startsWith('cat '))).toEqual([]);
  });
});
