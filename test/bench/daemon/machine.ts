import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cgroupProblem, PlayedKernel } from '../../../src/drill/daemons/kernel.ts';
import { machineIdentity } from '../../../src/node/shell/machine-identity.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const WATCHDOG_MS = 10_000;

/**
 * In a mount namespace of its own the daemon sees watchdog, boot, UUID and cgroups of a machine that is played. Nothing of this one can be armed, stopped or reset:
 * it has no capability (reboot(2) is refused), and finds no `reboot` but one that does nothing.
 */
const SHOW = `set -e
root=$1
shift
mount --bind "$root/sys/class/watchdog" /sys/class/watchdog
mount --bind "$root/sys/fs/cgroup" /sys/fs/cgroup
for file in proc/sys/kernel/random/boot_id proc/sys/kernel/sysrq proc/sysrq-trigger sys/class/dmi/id/product_uuid etc/machine-id; do
  if [ -e /$file ]; then mount --bind "$root/$file" /$file; fi
done
mount -t tmpfs -o mode=755 none /dev
for device in 'null 1 3' 'zero 1 5' 'full 1 7' 'random 1 8' 'urandom 1 9'; do
  set -- $device "$@"
  mknod -m 666 /dev/$1 c $2 $3
  shift 3
done
for file in watchdog0 kmsg; do
  touch /dev/$file
  mount --bind "$root/dev/$file" /dev/$file
done
PATH=$root/bin:$PATH exec setpriv --bounding-set -all --inh-caps -all --no-new-privs "$@"
`;

/** One machine that is played as far as a node daemon looks at it. */
export class BenchMachine {
  readonly name: string;
  readonly bootID: string;
  readonly systemUUID: string;
  readonly folder: string;
  readonly #kernel: PlayedKernel | undefined;

  /** Without a watchdog the daemon runs on this machine as it is. */
  constructor(name: string, folder: string, hasWatchdog: boolean) {
    this.name = name;
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    const { bootID, systemUUID } = hasWatchdog ? { bootID: randomUUID(), systemUUID: randomUUID() } : machineIdentity('/');
    [this.bootID, this.systemUUID] = [bootID, systemUUID];
    if (!hasWatchdog) return;
    const onReset = (cause: string): void => void process.stderr.write(`${name} would have been reset: ${cause}\n`);
    this.#kernel = new PlayedKernel({ root: this.#root, systemUUID: this.systemUUID, watchdogMs: WATCHDOG_MS, onReset });
    this.#kernel.boot(this.bootID);
    this.#write('etc/machine-id', this.systemUUID.replaceAll('-', ''));
    this.#write('bin/reboot', '#!/bin/sh');
    chmodSync(join(this.#root, 'bin/reboot'), 0o755);
  }

  get #root(): string {
    return join(this.folder, 'kernel');
  }

  get isWatchdogActive(): boolean {
    return this.#kernel?.isWatchdogActive ?? false;
  }

  /** As the daemon is started there; it takes down only a machine that is played. */
  command(program: readonly string[]): string[] {
    return this.#kernel === undefined ? [...program] : ['unshare', '-m', 'sh', '-c', SHOW, 'sh', this.#root, ...program, '--self-fence'];
  }

  close(): void {
    this.#kernel?.close();
  }

  #write(path: string, text: string): void {
    const whole = join(this.#root, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, `${text}\n`);
  }
}

/** Why no watchdog can be played here; undefined: one can. */
export function whyNoWatchdog(): string | undefined {
  return process.getuid?.() === 0 ? cgroupProblem() : 'namespaces of mounts need root';
}

/** What the unit starts Node with. */
export function shippedFlags(): string[] {
  const unit = readFileSync(join(ROOT, 'systemd/nodefence-node.service'), 'utf8');
  const words = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.split(' ') ?? [];
  const program = words.findIndex((word) => word.endsWith('main.js'));
  if (program < 0) throw new Error('the unit of the node daemon does not say how it is started');
  return words.slice(1, program);
}
