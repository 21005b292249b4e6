import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startTestProcess, TEST_PASSWORD, until } from '../../src/testbed/devices/ipmi/test-process.ts';
import { programPath } from '../../src/testbed/shipped/program.ts';

const FENCER = '/usr/lib/pacemaker/pacemaker-fenced';
const ADMIN = '/usr/sbin/stonith_admin';
const MAIN = programPath('main');
const TOOLS_MS = 120_000;

/** The folder in which the fencer looks for agents is overlaid for it alone, which takes root. */
const mayMount = process.getuid?.() === 0 && spawnSync('unshare', ['-m', 'true']).status === 0;
const isInstalled = existsSync(FENCER) && existsSync(ADMIN);
const isOurs = isInstalled && spawnSync(ADMIN, ['--list-registered'], { timeout: 10_000 }).status !== 0;

/** Pacemaker's own fencer, alone on this machine, calling our agent for an emulated BMC. */
class Cluster {
  readonly folder = mkdtempSync(join(tmpdir(), 'nodefence-pacemaker-'));
  #fencer: ChildProcess | undefined;

  constructor() {
    const agents = join(this.folder, 'sbin');
    mkdirSync(agents);
    const link = join(agents, 'fence_nodefence_redfish');
    writeFileSync(link, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' agent redfish "$@"\n`);
    chmodSync(link, 0o755);
    copyFileSync(ADMIN, join(agents, 'stonith_admin'));
  }

  get log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8');
  }

  async start(): Promise<void> {
    this.#fencer = spawn('unshare', this.#inside([FENCER, '--stand-alone', '--logfile', join(this.folder, 'log')]), { stdio: 'ignore' });
    await until('a fencer that answers', () => this.admin('--list-registered').code === 0);
  }

  /** Runs stonith_admin to its end. */
  admin(...parameters: string[]): { code: number | null; text: string } {
    const { status, stdout, stderr } = spawnSync('unshare', this.#inside([ADMIN, ...parameters]), { encoding: 'utf8', timeout: TOOLS_MS });
    return { code: status, text: stdout + stderr };
  }

  async stop(): Promise<void> {
    const fencer = this.#fencer;
    if (fencer?.exitCode === null) {
      const ended = new Promise((resolve) => fencer.once('exit', resolve));
      fencer.kill('SIGTERM');
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  #inside(argv: readonly string[]): string[] {
    return ['-m', 'sh', '-c', 'mount --bind "$0" /usr/sbin && exec "$@"', join(this.folder, 'sbin'), ...argv];
  }
}

describe.skipIf(!mayMount || !isInstalled || !isOurs)("pacemaker's fencer with our agent", { timeout: 300_000 }, () => {
  const cluster = new Cluster();
  let bmc: Awaited<ReturnType<typeof startTestProcess>>;
  const sets = (): (string | undefined)[] => bmc.deviceEvents().flatMap((event) => (event.action === 'set' ? [event.want] : []));
  const options = (changes: Record<string, string>): string[] => {
    const { port, fingerprint } = bmc.ready;
    const login = { ip: '127.0.0.1', ipport: String(port), username: 'admin', password: TEST_PASSWORD, ssl_fingerprint: fingerprint };
    return Object.entries({ ...login, pcmk_host_check: 'static-list', ...changes }).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  };

  beforeAll(async () => {
    bmc = await startTestProcess('redfish');
    await cluster.start();
  }, 60_000);
  afterAll(async () => {
    await cluster.stop();
    await bmc.stop();
  });

  it('reads its metadata and registers it as a device', () => {
    expect(cluster.admin('--metadata', '--agent', 'fence_nodefence_redfish').text).toContain('<resource-agent name="fence_nodefence_redfish"');
    expect(cluster.admin('--register', 'bmc-a', '--agent', 'fence_nodefence_redfish', ...options({ pcmk_host_list: 'node-a' })).code).toBe(0);
    expect(cluster.admin('--list', 'node-a').text).toContain('bmc-a');
    expect(cluster.admin('--query', 'bmc-a').code).toBe(0);
    expect(sets()).toEqual([]);
  });

  it('fences the node: off, proven; an off of what is off sends nothing', () => {
    expect(cluster.admin('--fence', 'node-a')).toMatchObject({ code: 0 });
    expect(bmc.powerEvents().at(-1)).toMatchObject({ state: 'off', cause: 'set' });
    expect(cluster.admin('--fence', 'node-a')).toMatchObject({ code: 0 });
    expect(sets()).toEqual(['off']);
  });

  it('unfences and reboots it', () => {
    expect(cluster.admin('--unfence', 'node-a')).toMatchObject({ code: 0 });
    expect(cluster.admin('--reboot', 'node-a')).toMatchObject({ code: 0 });
    expect(bmc.powerEvents().map(({ state }) => state)).toEqual(['on', 'off', 'on', 'off', 'on']);
    expect(sets()).toEqual(['off', 'on', 'off', 'on']);
  });

  it('hears of a failure in words that it understands, and the machine stays as it is', () => {
    const wrong = options({ pcmk_host_list: 'node-b', password: 'not-it' });
    expect(cluster.admin('--register', 'bmc-b', '--agent', 'fence_nodefence_redfish', ...wrong).code).toBe(0);
    expect(cluster.admin('--fence', 'node-b').code).not.toBe(0);
    expect(cluster.log).toMatch(/fence_nodefence_redfish\[\d+\] stderr: \[ nodefence: Failed: .*401/);
    expect(cluster.log).not.toContain('not-it');
    expect(bmc.powerEvents().at(-1)).toMatchObject({ state: 'on' });
    expect(sets()).toHaveLength(4);
  });
});
