import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { attestationName, parseAttestation } from '../../domain/node-daemon/attestation.ts';
import { ApiClient } from '../../kube/client.ts';
import type { Cluster } from '../../ports/cluster.ts';
import { LEASES } from '../../ports/resources.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { SystemRandom } from '../../runtime/system-random.ts';
import { serveHttps } from '../../testbed/apiserver/http-shell.ts';
import type { HttpShell } from '../../testbed/apiserver/http-shell.ts';
import { ApiServer } from '../../testbed/apiserver/server.ts';
import { inProcessTransport } from '../../testbed/apiserver/transport.ts';
import { machineIdentity } from './machine-identity.ts';
import { runNodeDaemon } from './run.ts';
import type { NodeDaemonRun } from './run.ts';
import { askStatus } from './status-socket.ts';
import { MachineTree } from './testing/machine-tree.ts';

const BOOT = '11111111-2222-3333-4444-555555555555';
const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
let machine: MachineTree;
let shell: HttpShell;
let cluster: Cluster;

const options = (): NodeDaemonRun => ({
  node: 'node-1',
  namespace: 'default',
  kubeconfig: join(machine.root, 'kubeconfig'),
  listen: { host: '127.0.0.1', port: 0 },
  stateDir: join(machine.root, 'lib'),
  runDir: join(machine.root, 'run/nodefence'),
  times: {},
  isArmedBesideCrashKernel: false,
  fencesItself: false,
  storage: [],
  postsConditions: false,
  version: 'test',
  root: machine.root,
  environment: {},
  log,
});

beforeEach(async () => {
  machine = new MachineTree();
  const server = new ApiServer({
    clock: new SystemClock(),
    random: new SystemRandom(),
    authorization: 'rbac',
    users: [{ name: 'admin', groups: ['system:masters'], token: 'admin-token' }],
  });
  shell = await serveHttps({ server });
  cluster = new ApiClient({ transport: inProcessTransport(server, 'admin') });
  machine.write('proc/sys/kernel/random/boot_id', `${BOOT}\n`);
  machine.write('sys/class/dmi/id/product_uuid', '4c4c4544-0042-3510-8051-b7c04f4e4d32\n');
  const authority = Buffer.from(shell.caPem).toString('base64');
  machine.write(
    'kubeconfig',
    JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      clusters: [{ name: 'a', cluster: { server: shell.url, 'certificate-authority-data': authority } }],
      users: [{ name: 'a', user: { token: 'admin-token' } }],
    }),
  );
});
afterEach(async () => {
  await shell.close();
  machine[Symbol.dispose]();
});

it('attests a node with its armed watchdog, shows its status, and disarms it at a clean stop', async () => {
  machine.addWatchdog();
  machine.runWatchdogDriver();
  const daemon = await runNodeDaemon(options());
  const attested = async () => {
    const lease = await cluster.get(LEASES, attestationName('node-1'), 'default');
    return lease === undefined ? undefined : parseAttestation(lease);
  };
  await vi.waitFor(async () => expect((await attested())?.watchdog?.state).toBe('armed'), 15_000);
  expect(await attested()).toMatchObject({
    bootID: BOOT,
    systemUUID: '4c4c4544-0042-3510-8051-b7c04f4e4d32',
    address: expect.stringMatching(/^127\.0\.0\.1:\d+$/) as string,
  });
  await vi.waitFor(() => expect(machine.read('written')).toContain('1'), 5_000);
  expect(await askStatus(join(machine.root, 'run/nodefence/node.sock'))).toMatchObject({
    node: 'node-1',
    watchdog: { state: 'armed', device: '/dev/watchdog0' },
  });
  await expect(runNodeDaemon(options())).rejects.toThrow('another daemon runs on this node');
  expect(await daemon.close()).toBe('disarmed');
  expect(machine.read('sys/class/watchdog/watchdog0/state')).toBe('inactive\n');
  expect((await attested())?.watchdog?.state).toBe('disarmed');
}, 60_000);

it('goes on with the watchdog that an earlier daemon left armed, though another one is wanted by now: nobody else would feed it', async () => {
  machine.addWatchdog({ identity: 'Software Watchdog', state: 'active' });
  machine.runWatchdogDriver();
  for (const [name, text] of Object.entries({ identity: 'iTCO_wdt', timeout: '10', nowayout: '0', options: '0x8180', 'device/uevent': '' }))
    machine.write(`sys/class/watchdog/watchdog1/${name}`, `${text}\n`);
  const record = (): unknown => JSON.parse(machine.read('run/nodefence/keep.json'));
  machine.write('run/nodefence/keep.json', JSON.stringify({ bootID: BOOT, isArmed: true, fencesItself: false, device: '/dev/watchdog0' }));
  const daemon = await runNodeDaemon({ ...options(), watchdog: '/dev/watchdog1' });
  await vi.waitFor(() => expect(machine.read('written')).toContain('1'), 10_000);
  expect(await askStatus(join(machine.root, 'run/nodefence/node.sock'))).toMatchObject({ watchdog: { state: 'armed', device: '/dev/watchdog0' } });
  expect(record()).toMatchObject({ isArmed: true, device: '/dev/watchdog0' });
  expect(log.warn).toHaveBeenCalledWith('the watchdog that an earlier daemon left armed is used until the next clean stop', {
    device: '/dev/watchdog0',
    reason: '/dev/watchdog1 is wanted',
  });
  expect(await daemon.close()).toBe('disarmed');
  expect(record()).not.toHaveProperty('device');
}, 60_000);

it('checks the machine, and attests what it finds', async () => {
  const storage = Array.from({ length: 9 }, (_, index) => ({ kind: 'device' as const, path: `/dev/shared-${index}` }));
  for (const { path } of storage) machine.write(path.slice(1), 'x'.repeat(8_192));
  machine.write('sys/kernel/kexec_crash_loaded', '0\n');
  machine.write('sys/kernel/kexec_crash_size', '0\n');
  const daemon = await runNodeDaemon({ ...options(), storage });
  const status = async () => (await askStatus(join(machine.root, 'run/nodefence/node.sock'))) as { checks: { name: string; sentence: string }[] };
  await vi.waitFor(async () => expect((await status()).checks).toHaveLength(7), 30_000);
  const sentences = Object.fromEntries((await status()).checks.map(({ name, sentence }) => [name, sentence]));
  expect(sentences).toMatchObject({
    storage: '9 storage targets answered',
    kdump: 'kdump is not armed: no memory is reserved (crashkernel=)',
  });
  await vi.waitFor(async () => {
    const lease = await cluster.get(LEASES, attestationName('node-1'), 'default');
    expect(lease && parseAttestation(lease)).toMatchObject({ storage: 'reachable', kdump: { isArmed: false, notifies: [] } });
  }, 10_000);
  await daemon.close();
}, 90_000);

it('says why a machine cannot be told from others, and is named as its kubelet names it where its firmware does not', async () => {
  machine.write('sys/class/dmi/id/product_uuid', '');
  await expect(runNodeDaemon(options())).rejects.toThrow('there is no /etc/machine-id; a pod is shown that of its node by part machine-id');
  machine.write('etc/machine-id', '3d1219c7c4c5404aaa1f6d2a48adfda4\n');
  expect(machineIdentity(machine.root)).toEqual({ bootID: BOOT, systemUUID: '3d1219c7c4c5404aaa1f6d2a48adfda4' });
  machine.write('proc/sys/kernel/random/boot_id', '');
  await expect(runNodeDaemon(options())).rejects.toThrow('the machine does not say its boot ID');
});
