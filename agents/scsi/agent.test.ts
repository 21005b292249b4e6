import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { configurationOf } from '../../src/config/configuration.ts';
import { resolvePlan } from '../../src/config/resolve-plan.ts';
import type { FabricAgent, Parameters, Target } from '../../src/ports/agents.ts';
import type { Cluster } from '../../src/ports/cluster.ts';
import { SystemClock } from '../../src/runtime/system-clock.ts';
import { parseKeys } from '../../src/domain/scsi-registration.ts';
import { standardRegistry } from '../registry.ts';
import { isSshdThere, startOpenSshd, type OpenSshd } from '../shared/ssh/testing/open-sshd.ts';
import { fenceInput } from './commands.ts';
import { scsi } from './definition.ts';
import { parseReservation, portOf } from './reservation.ts';

const FENCE_AGENTS = ['/usr/sbin/fence_scsi', '/usr/sbin/fence_mpath'];
const areThere = FENCE_AGENTS.every((path) => existsSync(path));
for (const [is, name] of [
  [isSshdThere, 'openssh-server'],
  [areThere, 'fence-agents'],
] as const)
  if (!is && process.env['CI'] === 'true') throw new Error(`Debian package ${name} is missing`);

const VICTIM = '123abc01';
const KEYS = '  PR generation=0x6, 2 registered reservation keys follow:\n    0x123abc01\n    0x123abc02\n';
const WITHOUT = '  PR generation=0x7, 1 registered reservation key follows:\n    0x123abc02\n';
const RESERVED = '  PR generation=0x7, Reservation follows:\n    Key=0x123abc02\n    scope: LU_SCOPE,  type: Write Exclusive, registrants only\n';
const FREE = '  PR generation=0x7, there is NO reservation held\n';

describe('what a device says of its reservations', () => {
  it.each([
    ['the key is gone and a reservation held', WITHOUT, RESERVED, 'closed'],
    [
      'the same by mpathpersist',
      '  PR generation=0x7, \t1 registered reservation key follows:\n    0x123abc02\n',
      '   PR generation=0x7, Reservation follows:\n   Key = 0x123abc02\n  scope = LU_SCOPE, type = Write Exclusive, registrants only\n',
      'closed',
    ],
    ['the key is there', KEYS, RESERVED, 'open'],
    ['the key is there in another spelling', KEYS.replace('0x123abc01', '0x0123ABC01'), RESERVED, 'open'],
    ['the key is gone, and nothing is reserved', WITHOUT, FREE, 'open'],
    ['a reservation that lets everybody write', WITHOUT, RESERVED.replace('Write Exclusive, registrants only', 'Write Exclusive'), 'open'],
    ['no key at all, though something is reserved', '  PR generation=0x7, there are NO registered reservation keys\n', RESERVED, 'unknown'],
    ['fewer keys than the head says', KEYS.replace('    0x123abc01\n', ''), RESERVED, 'unknown'],
    ['a list that was cut in its last key', '  PR generation=0x6, 1 registered reservation key follows:\n    0x123abc0', RESERVED, 'unknown'],
    ['no head', '    0x123abc02\n', RESERVED, 'unknown'],
    ['nothing', '', RESERVED, 'unknown'],
    ['no word on the reservation', WITHOUT, '', 'unknown'],
    ['a reservation without its type', WITHOUT, '    Key=0x123abc02\n', 'unknown'],
    ['an error in place of a list', 'PR in (Read keys): Unit attention\n', RESERVED, 'unknown'],
  ])('%s', (_what, keys, reservation, state) => {
    expect(portOf('/dev/sda', keys, reservation, `0x${VICTIM}`).state).toBe(state);
  });

  it('is read whole', () => {
    expect(parseKeys(KEYS)).toEqual({ keys: ['123abc01', '123abc02'] });
    expect(parseReservation(RESERVED)).toEqual({ key: '123abc02', type: 'Write Exclusive, registrants only' });
    expect(parseReservation(FREE)).toBe('none');
  });
});

describe.skipIf(!areThere)('the fence agents of ClusterLabs', { timeout: 60_000 }, () => {
  it.each(FENCE_AGENTS)('%s knows every option that it is told', (program) => {
    const metadata = execFileSync(program, ['-o', 'metadata'], { encoding: 'utf8' });
    const input = fenceInput({ devices: ['/dev/a'], key: VICTIM, isMultipath: program.endsWith('mpath') });
    for (const name of input
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]))
      expect(metadata).toContain(`<parameter name="${name ?? ''}"`);
    expect(metadata).toContain('<action name="off"');
  });

  it('take them from the standard input, and say what is wrong with the device', () => {
    const input = fenceInput({ devices: ['/dev/nodefence-none'], key: VICTIM, isMultipath: false });
    const { status, stderr } = spawnSync('/usr/sbin/fence_scsi', [], {
      input: `${input}sg_persist_path=/bin/true\nsg_turs_path=/bin/true\n`,
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/nodefence-none|fence_scsi\.key/);
  });
});

describe.skipIf(!isSshdThere)('scsi on a host that is well', { timeout: 90_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'nodefence-scsi-'));
  const keys = join(folder, 'keys');
  const reservation = join(folder, 'reservation');
  const told = join(folder, 'told');
  let sshd: OpenSshd;
  let agent: FabricAgent;

  beforeAll(async () => {
    sshd = await startOpenSshd();
  }, 90_000);
  afterAll(async () => {
    await sshd.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  beforeEach(async () => {
    writeFileSync(keys, KEYS);
    writeFileSync(reservation, RESERVED);
    writeFileSync(told, '');
    key = '0x123ABC01';
    script('persist', `case "$*" in *-k*) cat ${keys} ;; *-r*) cat ${reservation} ;; esac`);
    script('fence', `cat > ${told}`, `printf '%s' '${WITHOUT}' > ${keys}`);
    agent = await agentWith('00000000-0000-4000-8000-000000000000');
  });
  afterEach(async () => {
    await agent.close?.();
  });

  function script(name: string, ...lines: string[]): void {
    writeFileSync(join(folder, name), ['#!/bin/sh', ...lines].join('\n'));
    chmodSync(join(folder, name), 0o755);
  }

  /** What the daemon of the node attests that it registers; undefined: it has attested nothing. */
  let key: string | undefined;

  function attested(): object | undefined {
    if (key === undefined) return undefined;
    const unfence = { state: 'ready to recover', key, devices: ['/dev/sda'] };
    const attestation = JSON.stringify({ bootID: 'b', systemUUID: 'u', peers: [], unfence });
    return { metadata: { annotations: { 'nodefence.ha.k8s.io/attestation': attestation } } };
  }

  async function agentWith(bootID: string): Promise<FabricAgent> {
    const node = {
      metadata: { name: 'worker-1' },
      spec: {},
      status: { nodeInfo: { bootID }, addresses: [{ type: 'InternalIP', address: '10.0.0.5' }] },
    };
    const cluster = {
      get: (resource: { kind: string }, name: string) =>
        Promise.resolve(resource.kind === 'Lease' ? (name === 'nodefence-node-worker-1' ? attested() : undefined) : node),
    } as unknown as Cluster;
    const created = await scsi.create({ cluster, clock: new SystemClock(), namespace: 'nodefence-system' });
    if (created.kind !== 'fabric') throw new Error('not a fabric agent');
    return created;
  }

  function target(parameters: Parameters = {}, change: Partial<Target> = {}): Target {
    return {
      plug: '',
      device: 'scsi',
      parameters: {
        ip: '127.0.0.1',
        ipport: String(sshd.port),
        username: sshd.username,
        private_key: sshd.privateKey,
        known_hosts: sshd.knownHosts.ed25519,
        login_timeout: '15',
        devices: '/dev/disk/by-id/wwn-1',
        key: '0x0123ABC01',
        fence_path: join(folder, 'fence'),
        persist_path: join(folder, 'persist'),
        ...parameters,
      },
      identity: { node: 'worker-1' },
      signal: new AbortController().signal,
      deadlineMs: 30_000,
      beforeSend: () => undefined,
      ...change,
    };
  }

  it('takes the node’s registration away, and shows that it is gone', async () => {
    expect(await agent.read(target())).toMatchObject({ state: 'open' });
    expect(await agent.set(target(), 'closed')).toMatchObject({ result: 'accepted' });
    expect(readFileSync(told, 'utf8')).toBe('action=off\ndevices=/dev/disk/by-id/wwn-1\nkey=123abc01\n');
    expect(await agent.read(target())).toMatchObject({ state: 'closed' });
  });

  it('shows whose key it is by what the daemon of the node attests that it registers', async () => {
    expect(await agent.read(target())).toMatchObject({ identity: 'verified' });
    key = undefined;
    expect(await agent.read(target())).toMatchObject({
      identity: 'unverified',
      detail: expect.stringContaining('its daemon attests none') as string,
    });
    key = '0x123abc02';
    await expect(agent.read(target())).rejects.toMatchObject({
      kind: 'Misconfigured',
      message: expect.stringContaining('the daemon of node worker-1 registers key 0x123abc02, not 0x123abc01') as string,
    });
  });

  it('does not believe an agent that says it did', async () => {
    script('fence', 'exit 0');
    await agent.set(target(), 'closed');
    expect(await agent.read(target())).toMatchObject({ state: 'open' });
  });

  it('has shut no storage while one of its devices still lets the node in, whichever that is', async () => {
    const shut = join(folder, 'shut');
    writeFileSync(shut, WITHOUT);
    script('persist', `case "$*" in *wwn-open*) k=${keys} ;; *) k=${shut} ;; esac`, `case "$*" in *-k*) cat $k ;; *-r*) cat ${reservation} ;; esac`);
    const [open, closed] = ['/dev/disk/by-id/wwn-open', '/dev/disk/by-id/wwn-shut'];
    expect(await agent.read(target({ devices: closed }))).toMatchObject({ state: 'closed' });
    for (const devices of [`${open},${closed}`, `${closed},${open}`]) expect(await agent.read(target({ devices }))).toMatchObject({ state: 'open' });
  });

  it('is not read from a command that failed, whatever it printed', async () => {
    script('persist', `case "$*" in *-k*) printf '%s' '${WITHOUT}' ;; *-r*) cat ${reservation} ;; esac`, 'exit 1');
    await expect(agent.read(target())).rejects.toMatchObject({ kind: 'Unreachable' });
  });

  it('tells what the agent said that failed', async () => {
    script('fence', 'echo "Failed: keys cannot be same. You can not fence yourself." >&2', 'exit 1');
    await expect(agent.set(target(), 'closed')).rejects.toMatchObject({
      kind: 'Refused',
      message: expect.stringContaining('keys cannot be same') as string,
    });
  });

  it('may have taken it away where the agent was killed', async () => {
    script('fence', 'kill -9 $$');
    expect(await agent.set(target(), 'closed')).toMatchObject({ result: 'unclear' });
  });

  it('is never run on the node itself, whatever its address is called', async () => {
    await agent.close?.();
    agent = await agentWith(readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim());
    await expect(agent.set(target(), 'closed')).rejects.toMatchObject({
      kind: 'Misconfigured',
      message: expect.stringContaining('by its boot ID') as string,
    });
    expect(readFileSync(told, 'utf8')).toBe('');
  });

  it('never claims to let a node in again', async () => {
    await expect(agent.set(target(), 'open')).rejects.toMatchObject({ kind: 'Refused' });
  });

  it('sends nothing without the lease', async () => {
    const beforeSend = (): never => {
      throw new Error('no lease');
    };
    await expect(agent.set(target({}, { beforeSend }), 'closed')).rejects.toThrow('no lease');
    expect(readFileSync(told, 'utf8')).toBe('');
  });

  it.each([
    ['devices', '/dev/sda; reboot'],
    ['devices', '/dev/../etc/passwd'],
    ['devices', 'sda'],
    ['key', '0x0'],
    ['key', 'all'],
    ['fence_path', 'fence_scsi'],
  ])('finds the mistake in %s=%s', (name, value) => {
    expect(scsi.check({ ...target().parameters, [name]: value }, true)).toMatchObject([{ parameter: name }]);
  });

  it('is told for a storage, or not at all', () => {
    const plan = (storage: string) => {
      const method = `agent_name=scsi\naction=off\nip=192.0.2.1\nusername=root\ndevices=/dev/sda\nkey=1${storage}`;
      const data = { 'config.properties': 'isolation=shut', 'fence-method-shut': method };
      const configuration = configurationOf([{ name: 'fence-config-worker-1', data }], standardRegistry());
      return resolvePlan({ node: { name: 'worker-1', labels: {}, annotations: {}, addresses: [] }, configuration }).problems.filter(
        ({ severity, step, message }) => severity === 'error' && step === 'isolation' && message.includes('storage='),
      );
    };
    expect(plan('')).toHaveLength(1);
    expect(plan('\nstorage=san\nstorage_match=driver:san.example.org')).toEqual([]);
  });
});
