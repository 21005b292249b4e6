import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const LOOK_MS = 20;
const BYTES = 64;
const MAGIC_CLOSE = 'V';
/** Of those that a kernel has, the first in which cgroups can be made. */
const HIERARCHIES = ['/sys/fs/cgroup', '/sys/fs/cgroup/unified', '/sys/fs/cgroup/pids', '/sys/fs/cgroup/freezer'];
const POD = 'pod3f2504e0-4f89-11d3-9a0c-0305e82c3301';

export interface KernelOptions {
  root: string;
  systemUUID: string;
  watchdogMs: number;
  /** The kernel, or the watchdog, resets the machine. */
  onReset: (cause: string) => void;
}

/**
 * What a daemon sees of the kernel of a bare machine, as files: its identity, a hardware watchdog that waits for nobody, sysrq. The cgroup of the machine's pods
 * is one of the real kernel, so that real processes are counted and killed there.
 */
export class PlayedKernel {
  readonly #options: KernelOptions;
  readonly #cgroup: string;
  readonly #timer: NodeJS.Timeout;
  #watchdog: { file: number; isOpen: boolean; isActive: boolean; fedAtMs: number; last: string };

  constructor(options: KernelOptions) {
    this.#options = options;
    this.#write('proc/cpuinfo', 'flags\t\t: fpu vme sse2\n');
    this.#write('sys/power/state', '\n');
    this.#write('sys/class/dmi/id/sys_vendor', 'Drill\n');
    this.#write('sys/class/dmi/id/product_uuid', `${options.systemUUID}\n`);
    this.#write('sys/class/watchdog/watchdog0/device/uevent', '');
    const facts = { identity: 'iTCO_wdt', timeout: String(options.watchdogMs / 1_000), nowayout: '0', options: '0x8180', state: 'inactive' };
    for (const [name, text] of Object.entries(facts)) this.#write(`sys/class/watchdog/watchdog0/${name}`, `${text}\n`);
    this.#write('proc/sys/kernel/sysrq', '0');
    this.#write('proc/sysrq-trigger', '');
    this.#write('dev/kmsg', '');
    const pipe = join(options.root, 'dev/watchdog0');
    execFileSync('mkfifo', [pipe]);
    const file = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
    this.#watchdog = { file, isOpen: false, isActive: false, fedAtMs: 0, last: '' };
    this.#cgroup = podCgroup(options.root);
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  boot(bootID: string): void {
    this.#write('proc/sys/kernel/random/boot_id', `${bootID}\n`);
    this.#write('proc/sysrq-trigger', '');
    this.#setActive(false);
  }

  /** Nothing runs, and nothing is to be reset. */
  halt(): void {
    this.#hearWatchdog();
    this.#setActive(false);
  }

  /** A process of a pod. */
  addToPod(pid: number): void {
    writeFileSync(join(this.#cgroup, 'cgroup.procs'), String(pid));
  }

  get isWatchdogActive(): boolean {
    return this.#watchdog.isActive;
  }

  close(): void {
    clearInterval(this.#timer);
    closeSync(this.#watchdog.file);
    for (const path of [this.#cgroup, dirname(this.#cgroup), dirname(dirname(this.#cgroup)), dirname(dirname(dirname(this.#cgroup)))]) {
      // The processes in it have been told to end, and may take a moment more.
      if (existsSync(path)) removeCgroup(path);
    }
  }

  #look(): void {
    this.#hearWatchdog();
    const { fedAtMs, isActive } = this.#watchdog;
    if (isActive && performance.now() - fedAtMs > this.#options.watchdogMs) {
      this.#setActive(false);
      this.#options.onReset('its watchdog was not fed');
      return;
    }
    if (readFileSync(join(this.#options.root, 'proc/sysrq-trigger'), 'utf8') !== 'b') return;
    this.#write('proc/sysrq-trigger', '');
    this.#options.onReset('sysrq');
  }

  /** Open arms it, a close disarms it where V was the last byte before it; without that it goes on. */
  #hearWatchdog(): void {
    const watchdog = this.#watchdog;
    const bytes = Buffer.alloc(BYTES);
    try {
      for (let count = readSync(watchdog.file, bytes); count > 0; count = readSync(watchdog.file, bytes)) {
        watchdog.last = bytes.subarray(count - 1, count).toString();
        this.#fed();
      }
      // Nobody has it open.
      if (watchdog.isOpen && watchdog.last === MAGIC_CLOSE) this.#setActive(false);
      watchdog.isOpen = false;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      if (!watchdog.isOpen) this.#fed();
    }
  }

  #fed(): void {
    const watchdog = this.#watchdog;
    watchdog.fedAtMs = performance.now();
    if (!watchdog.isOpen) watchdog.last = '';
    watchdog.isOpen = true;
    if (!watchdog.isActive) this.#setActive(true);
  }

  #setActive(isActive: boolean): void {
    this.#watchdog.isActive = isActive;
    this.#write('sys/class/watchdog/watchdog0/state', isActive ? 'active\n' : 'inactive\n');
  }

  #write(path: string, text: string): void {
    const whole = join(this.#options.root, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, text);
  }
}

/** Why there are no cgroups here; undefined: there are. */
export function cgroupProblem(): string | undefined {
  return hierarchy() === undefined ? 'no cgroups can be made here: the drill needs root, and a writable /sys/fs/cgroup' : undefined;
}

function podCgroup(root: string): string {
  const parent = hierarchy();
  if (parent === undefined) throw new Error(cgroupProblem());
  const own = join(parent, `nodefence-drill-${String(process.pid)}-${root.slice(root.lastIndexOf('/') + 1)}`);
  const pod = join(own, 'machine/kubepods', POD);
  mkdirSync(pod, { recursive: true });
  mkdirSync(join(root, 'sys/fs'), { recursive: true });
  symlinkSync(own, join(root, 'sys/fs/cgroup'));
  return pod;
}

function hierarchy(): string | undefined {
  const probe = `nodefence-probe-${String(process.pid)}`;
  return HIERARCHIES.find((path) => {
    if (!existsSync(join(path, 'cgroup.procs'))) return false;
    try {
      mkdirSync(join(path, probe));
      rmdirSync(join(path, probe));
      return true;
    } catch {
      return false;
    }
  });
}

function removeCgroup(path: string): void {
  for (const entry of readdirSync(path, { withFileTypes: true })) if (entry.isDirectory()) removeCgroup(join(path, entry.name));
  rmdirSync(path);
}
