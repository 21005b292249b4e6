import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { accessSync, chmodSync, constants, existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SYSTEMD = '/usr/lib/systemd/systemd';
const CGROUPS = existsSync('/sys/fs/cgroup/systemd') ? '/sys/fs/cgroup/systemd' : '/sys/fs/cgroup';
const READY_MS = 120_000;
/** Nobody waits for it longer, whatever becomes of the test. */
const LIVES_SECONDS = 600;
const PLAIN = '[Unit]\nDefaultDependencies=no\n';

/** Units of this machine alone: whatever the computer under it has installed is neither read nor started. */
const UNITS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['sysinit', 'basic', 'shutdown', 'sockets'].map((name) => [`${name}.target`, PLAIN])),
  'begin.target': `${PLAIN}Wants=kubelet.service dbus.socket dbus.service\nAfter=kubelet.service dbus.service\n`,
  'kubelet.service': `${PLAIN}[Service]\nExecStart=/bin/sleep infinity\n`,
  // As Debian's: systemd looks for both units before it goes to the bus.
  'dbus.socket': `${PLAIN}[Socket]\nListenStream=/run/dbus/system_bus_socket\n`,
  'dbus.service': `${PLAIN}Requires=dbus.socket\n[Service]\nType=notify\nExecStart=/usr/bin/dbus-daemon --system --address=systemd: --nofork --nopidfile --systemd-activation --syslog-only\n`,
  'reboot.target': `${PLAIN}Wants=rebooted.service\n`,
  'rebooted.service': `${PLAIN}[Service]\nType=oneshot\nExecStart=/bin/touch /run/rebooted\n`,
};

/** In its own mount namespace: the computer's files are read-only, and what systemd clears at a boot is memory of its own. */
const BOOT = `set -e
mount --bind "$1" /mnt
mount -t tmpfs -o mode=755 none /run
mkdir -p /run/systemd/system
mount -t tmpfs none /tmp
mount -t tmpfs none /var/tmp
# As the root of its own tree, which is a branch of the computer's.
if [ -d /sys/fs/cgroup/systemd ]; then tree=/sys/fs/cgroup/systemd; kind="cgroup -o none,name=systemd"; else tree=/sys/fs/cgroup; kind=cgroup2; fi
umount -l $tree
mount -t $kind none $tree
mount -o remount,bind,ro /
exec env -i container=test SYSTEMD_UNIT_PATH=/mnt/units SYSTEMD_GENERATOR_PATH=/mnt/none SYSTEMD_ENVIRONMENT_GENERATOR_PATH=/mnt/none \\
  PATH=/usr/sbin:/usr/bin:/sbin:/bin setpriv --bounding-set -sys_time,-sys_module,-syslog ${SYSTEMD} --system --unit=begin.target --log-target=null
`;

/** As a container is started: it is shown two folders of the host read-only, sees no process of it, and has no capability. */
const POD = `set -e
mkdir -p /tmp/dbus /tmp/systemd
mount --bind /run/dbus /tmp/dbus
mount --bind /run/systemd/system /tmp/systemd
mount -o remount,bind,ro /tmp/dbus
mount -o remount,bind,ro /tmp/systemd
mount -t tmpfs none /run
for folder in $1; do mkdir -p /run/$folder; done
case "$1" in *dbus*) mount --bind /tmp/dbus /run/dbus;; esac
case "$1" in *systemd*) mount --bind /tmp/systemd /run/systemd/system;; esac
shift
# As a child: the first process of a container is the daemon.
exec setpriv --bounding-set -all --inh-caps -all --no-new-privs sh -c '"$@"; exit $?' sh "$@"
`;

/** Why no systemd can be started beside that of this computer, in words; undefined: it can. */
export function whyNoSystemd(): string | undefined {
  if (process.getuid?.() !== 0) return 'root';
  const missing = [SYSTEMD, '/usr/bin/systemctl', '/usr/bin/dbus-daemon', '/usr/bin/unshare', '/usr/bin/setpriv'].find((path) => !existsSync(path));
  if (missing !== undefined) return missing;
  try {
    accessSync(CGROUPS, constants.W_OK);
  } catch {
    return 'a tree of cgroups that it may write';
  }
  return spawnSync('unshare', ['-fpmCuin', 'true']).status === 0 ? undefined : 'namespaces';
}

/** A real systemd and a real D-Bus in namespaces of their own, with a unit that is called kubelet. */
export class SystemdMachine {
  readonly #folder = mkdtempSync(join(tmpdir(), 'nodefence-systemd-'));
  readonly #cgroup = newCgroup();
  #unshare: ChildProcess | undefined;
  #pid = 0;

  async start(): Promise<void> {
    mkdirSync(join(this.#folder, 'units'));
    for (const [name, text] of Object.entries(UNITS)) writeFileSync(join(this.#folder, 'units', name), text);
    writeFileSync(join(this.#folder, 'boot'), BOOT);
    writeFileSync(join(this.#folder, 'pod'), POD);
    chmodSync(this.#folder, 0o755);
    const words = ['timeout', '-k', '1', String(LIVES_SECONDS), 'unshare', '-fpmCuin', '--kill-child', '--mount-proc', 'sh', `${this.#folder}/boot`];
    const script = `echo $$ > ${this.#cgroup}/cgroup.procs; exec setsid "$@"`;
    this.#unshare = spawn('sh', ['-c', script, 'sh', ...words, this.#folder], { stdio: 'ignore' });
    const endsMs = performance.now() + READY_MS;
    while (performance.now() < endsMs) {
      this.#pid = this.#found() ?? 0;
      if (this.#pid !== 0 && this.run('systemctl', 'is-active', 'begin.target').startsWith('active')) return;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('systemd did not start in time');
  }

  /** On the machine itself. */
  run(...words: readonly string[]): string {
    return spawnSync('nsenter', ['-t', String(this.#pid), '-m', '-p', '-C', ...words], { encoding: 'utf8', timeout: 60_000 }).stdout;
  }

  /** A program that runs `systemctl` as a pod of this machine would; `shown`: folders of /run. */
  systemctl(shown: readonly string[]): string {
    const program = join(this.#folder, 'systemctl');
    const enter = `nsenter -t ${this.#pid} -m -p -C unshare -fpm --mount-proc --propagation private`;
    writeFileSync(program, `#!/bin/sh\nexec ${enter} sh /mnt/pod '${shown.join(' ')}' systemctl "$@"\n`);
    chmodSync(program, 0o755);
    return program;
  }

  async end(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#unshare?.once('exit', () => resolve()) ?? resolve());
    if (this.#pid !== 0) process.kill(this.#pid, 'SIGKILL');
    else this.#unshare?.kill('SIGKILL');
    await ended;
    removeCgroup(this.#cgroup);
    rmSync(this.#folder, { recursive: true });
  }

  /** systemd is the only child of `unshare`, which is the only one of `timeout`. */
  #found(): number | undefined {
    let pid = this.#unshare?.pid;
    for (let depth = 0; depth < 2 && pid !== undefined; depth += 1) pid = childOf(pid);
    return pid !== undefined && readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('systemd') ? pid : undefined;
  }
}

function childOf(pid: number): number | undefined {
  const path = `/proc/${pid}/task/${pid}/children`;
  const first = existsSync(path) ? Number(readFileSync(path, 'utf8').split(' ')[0]) : 0;
  return first > 0 ? first : undefined;
}

/** What it starts stays below, and leaves nothing in the computer's own tree. */
function newCgroup(): string {
  return mkdtempSync(join(CGROUPS, 'nodefence-systemd-'));
}

function removeCgroup(path: string): void {
  const below = spawnSync('find', [path, '-depth', '-mindepth', '1', '-type', 'd'], { encoding: 'utf8' }).stdout;
  for (const folder of [...below.split('\n').filter((line) => line !== ''), path]) rmdirSync(folder);
}
