import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../../src/drill/run/pause.ts';
import type { Guest } from './guest.ts';
import type { Plane } from './plane.ts';
import { COUNTER_DEVICE, GUEST_ADDRESS, POD_IMAGE } from './recipe.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const BOOT_WITHIN_MS = 240_000;
const SHELL_MS = 60_000;
const ARMED_WITHIN_MS = 120_000;
const LOOK_MS = 1_000;
const POD_MS = 120_000;
export const SYSTEM_UUID = '6a1f3f3c-2d7b-4f0e-9a51-0c7d5d1f0a11';
/** Its own Node, and node.env. */
const NODE = '/opt/nodefence/node_modules/.bin/node';

/** What is not as it must be: the case ends there. */
export class Wrong extends Error {}

/** A machine that runs, its cluster, and what is asked of both. */
export class MachineStage {
  readonly guest: Guest;
  readonly plane: Plane;
  readonly tell: (line: string) => void;

  constructor(guest: Guest, plane: Plane, tell: (line: string) => void) {
    this.guest = guest;
    this.plane = plane;
    this.tell = tell;
  }

  now(): number {
    return performance.timeOrigin + performance.now();
  }

  /** stdout of a command that must succeed. */
  async sh(script: string, withinMs = SHELL_MS, input = ''): Promise<string> {
    const said = await this.guest.run(script, withinMs, input);
    if (said === undefined) throw new Wrong(`the machine does not answer to ${script.slice(0, 80)}:\n${this.guest.lastWords}`);
    if (said.code !== 0) throw new Wrong(`${script.slice(0, 200)} ended with ${said.code}: ${said.err}${said.out}`);
    return said.out.trim();
  }

  bootID(): Promise<string> {
    return this.sh('cat /proc/sys/kernel/random/boot_id');
  }

  /** Up, and by another boot than `before`; its kubelet speaks for it from then on. Its boot ID. */
  async booted(before?: string): Promise<string> {
    const startedAtMs = this.now();
    const isUp = async (): Promise<string | undefined> => {
      const said = await this.guest.run('systemctl is-system-running; cat /proc/sys/kernel/random/boot_id', SHELL_MS);
      const [state, boot] = said?.out.trim().split('\n') ?? [];
      return boot !== before && (state === 'running' || state === 'degraded') ? boot : undefined;
    };
    const boot = await this.until('the machine is up', BOOT_WITHIN_MS, isUp);
    this.tell(`the machine is up after ${seconds(this.now() - startedAtMs)}, boot ${boot}`);
    await this.plane.startKubelet(boot, SYSTEM_UUID, GUEST_ADDRESS);
    return boot;
  }

  /** The kernel, and not the daemon, says so. */
  async armed(): Promise<void> {
    const startedAtMs = this.now();
    const isArmed = async (): Promise<true | undefined> =>
      (await this.sh('cat /sys/class/watchdog/watchdog0/state')) === 'active' ? true : undefined;
    await this.until('the kernel says that the watchdog is armed', ARMED_WITHIN_MS, isArmed);
    this.tell(`its watchdog is armed after ${seconds(this.now() - startedAtMs)}`);
  }

  async property(unit: string, name: string): Promise<string> {
    return this.sh(`systemctl show -P ${name} ${unit}`);
  }

  async until<T>(what: string, withinMs: number, look: () => Promise<T | undefined>): Promise<T> {
    const endsAtMs = performance.now() + withinMs;
    for (;;) {
      const found = await look();
      if (found !== undefined) return found;
      if (performance.now() > endsAtMs) throw new Wrong(`${what}: not within ${seconds(withinMs)}\n${this.guest.lastWords}`);
      await pause(LOOK_MS);
    }
  }

  /** The next event of QEMU of this name since then; its moment. */
  event(name: string, sinceMs: number, withinMs: number): Promise<number> {
    return this.until(`QEMU says ${name}`, withinMs, () => Promise.resolve(this.guest.eventsOf(name, sinceMs)[0]?.atMs));
  }

  /** QEMU has told of no reset since then, and the boot is the same. */
  async noReset(sinceMs: number, boot: string): Promise<void> {
    const resets = ['RESET', 'WATCHDOG'].flatMap((name) => this.guest.eventsOf(name, sinceMs));
    if (resets.length > 0) throw new Wrong(`QEMU says ${resets.map(({ name }) => name).join(', ')}, and must not\n${this.guest.lastWords}`);
    const now = await this.bootID();
    if (now !== boot) throw new Wrong(`the machine has booted anew: ${boot} became ${now}`);
  }

  /** A pod of the real containerd that writes a byte to the second serial line four times a second. */
  async startPod(): Promise<void> {
    await this.sh('mkdir -p /opt/test');
    for (const name of ['make-image.sh', 'pod.mjs'])
      await this.sh(`cat > /opt/test/${name}`, SHELL_MS, readFileSync(join(ROOT, 'test/machine/guest', name), 'utf8'));
    await this.sh(`ctr -n k8s.io images ls -q | grep -q ${POD_IMAGE} || sh /opt/test/make-image.sh ${POD_IMAGE}`, POD_MS);
    const command = `while :; do echo . > ${COUNTER_DEVICE}; sleep 0.25; done`;
    const pod = await this.sh(`${NODE} /opt/test/pod.mjs ${POD_IMAGE} ${randomUUID()} '${command}'`, POD_MS);
    const { bytes } = this.guest.counter;
    const grows = (): Promise<true | undefined> => Promise.resolve(this.guest.counter.bytes > bytes + 5 ? true : undefined);
    await this.until('the container writes', POD_MS, grows);
    this.tell(`a container writes, of pod ${pod.slice(0, 12)}`);
  }
}

export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
