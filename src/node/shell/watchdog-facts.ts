import { readdir, readFile, readlink, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { WatchdogFacts } from '../../ports/node-daemon.ts';
import { codeOf } from './file-errors.ts';

/** Drivers without hardware, by what they call themselves. They stand still with the kernel that they should reset. */
const SOFT = new Set(['Software Watchdog', 'UML Hardware Watchdog', 'Xen timer']);
/** Hardware whose drivers do not say in sysfs which device it is. */
const HARDWARE = new Set(['i6300ESB timer']);
/** WDIOF_MAGICCLOSE. */
const MAGIC_CLOSE = 0x0100;
/** What DMI says of virtual machines where the processor does not. */
const VIRTUAL =
  /^(?:QEMU|VMware|Xen|KVM|innotek|Parallels|Bochs|OpenStack|Microsoft Corporation Virtual|Google Compute|Amazon EC2(?!.*metal)|Apple Virtualization|KubeVirt|BHYVE|Hyper-V|VirtualBox|Nutanix|Alibaba Cloud|DigitalOcean|Hetzner vServer)/i;

/** What sysfs says of a watchdog. Nothing is opened. `root`: `/`, and a tree of files in tests. */
export async function watchdogFacts(root: string, device: string): Promise<WatchdogFacts | { problem: string }> {
  const number = /^\/dev\/watchdog(\d*)$/.exec(device)?.[1];
  if (number === undefined) return { problem: `${device} is no watchdog device: write /dev/watchdog0` };
  const folder = join(root, `sys/class/watchdog/watchdog${number === '' ? '0' : number}`);
  const read = (name: string): Promise<string | undefined> => textOf(join(folder, name));
  const [identity, timeout, nowayout, options] = await Promise.all(['identity', 'timeout', 'nowayout', 'options'].map(read));
  if (identity === undefined) return { problem: `there is no watchdog ${device} in sysfs: is its driver loaded?` };
  const timeoutMs = Number(timeout) * 1000;
  // An older kernel, such as Linux 6.1 of Debian 12, has no `options`.
  const bits = Number(options ?? 0);
  if (!Number.isInteger(timeoutMs) || timeoutMs <= 0 || !Number.isInteger(bits) || (nowayout !== '0' && nowayout !== '1'))
    return { problem: `${device} (${identity}) does not say in sysfs how long it waits and whether it can be disarmed` };
  const isNowayout = nowayout === '1';
  return {
    device,
    identity,
    kind: !SOFT.has(identity) && (HARDWARE.has(identity) || (await exists(join(folder, 'device')))) ? 'hardware' : 'soft',
    action: await actionOf(root, identity),
    isPausable: await isPausable(root),
    timeoutMs,
    isNowayout,
    ...(options === undefined ? {} : { outlivesClose: (bits & MAGIC_CLOSE) !== 0 }),
  };
}

/** The watchdog is opened: `active` in sysfs. */
export async function isActive(root: string, device: string): Promise<boolean | undefined> {
  const number = /(\d*)$/.exec(device)?.[1] ?? '';
  const state = await textOf(join(root, `sys/class/watchdog/watchdog${number === '' ? '0' : number}/state`));
  // Whatever else it says is no answer: what is not known to stand still may reset the machine.
  return state === 'active' ? true : state === 'inactive' ? false : undefined;
}

/** A crash kernel is loaded: a watchdog that is armed resets the machine while it writes the dump. */
export async function isCrashKernelLoaded(root: string): Promise<boolean> {
  return (await textOf(join(root, 'sys/kernel/kexec_crash_loaded'))) === '1';
}

/** Drivers that may do something else than to reset say so in their parameters. */
async function actionOf(root: string, identity: string): Promise<string> {
  const parameter = (module: string, name: string): Promise<string | undefined> => textOf(join(root, `sys/module/${module}/parameters/${name}`));
  if (identity === 'Software Watchdog') {
    const [noBoot, panic] = await Promise.all([parameter('softdog', 'soft_noboot'), parameter('softdog', 'soft_panic')]);
    if (isOn(noBoot)) return 'none';
    return isOn(panic) ? 'panic' : 'reset';
  }
  if (identity !== 'IPMI') return 'reset';
  const action = await parameter('ipmi_watchdog', 'action');
  return action === 'power_off' ? 'off' : (action ?? 'unknown');
}

function isOn(value: string | undefined): boolean {
  return value !== undefined && value !== '0' && value !== 'N';
}

/** A virtual machine may be paused, a laptop sleeps: the watchdog stands still meanwhile. What cannot be read counts as one that may. */
async function isPausable(root: string): Promise<boolean> {
  return (await isVirtual(root)) || (await maySleep(root));
}

async function isVirtual(root: string): Promise<boolean> {
  const processors = await textOf(join(root, 'proc/cpuinfo'));
  // Of x86 and ARM it is known how a virtual machine looks. On others, such as POWER and z, machines are partitions of larger ones as a rule.
  if (processors === undefined || !/^(?:flags|CPU implementer)\s*:/m.test(processors)) return true;
  if (/^flags\s*:.*\bhypervisor\b/m.test(processors)) return true;
  if ((await textOf(join(root, 'sys/hypervisor/type'))) !== undefined || (await exists(join(root, 'proc/device-tree/hypervisor')))) return true;
  // Its host may hide the hypervisor, and show any DMI: its firmware and its devices tell all the same.
  if ((await exists(join(root, 'sys/firmware/qemu_fw_cfg'))) || (await namesIn(join(root, 'sys/bus/virtio/devices'))).length > 0) return true;
  const [vendor, product] = await Promise.all(['sys_vendor', 'product_name'].map((name) => textOf(join(root, `sys/class/dmi/id/${name}`))));
  return VIRTUAL.test(`${vendor ?? ''} ${product ?? ''}`) || VIRTUAL.test(product ?? '');
}

/** The kernel can, and systemd is not forbidden to. */
async function maySleep(root: string): Promise<boolean> {
  if (((await textOf(join(root, 'sys/power/state'))) ?? '') === '') return false;
  for (const folder of ['etc', 'run']) if (await isMasked(join(root, folder, 'systemd/system/sleep.target'))) return false;
  return true;
}

async function isMasked(path: string): Promise<boolean> {
  try {
    return (await readlink(path)) === '/dev/null';
  } catch (error) {
    // No link: an empty file masks too.
    if (codeOf(error) === 'EINVAL') return (await readFile(path, 'utf8')) === '';
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

/** Undefined: it is not there. */
async function textOf(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ENODEV', 'EACCES'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
}

/** `/dev/watchdog0` and its like, for whoever named none. Hardware first. */
export async function watchdogDevices(root: string): Promise<string[]> {
  const names = await namesIn(join(root, 'sys/class/watchdog'));
  const devices = names.filter((name) => /^watchdog\d+$/.test(name)).map((name) => `/dev/${name}`);
  const known = await Promise.all(devices.map(async (device) => ({ device, facts: await watchdogFacts(root, device) })));
  const rank = (facts: WatchdogFacts | { problem: string }): number => ('problem' in facts ? 2 : Number(facts.kind === 'soft'));
  return known.sort((a, b) => rank(a.facts) - rank(b.facts) || a.device.localeCompare(b.device)).map(({ device }) => device);
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
