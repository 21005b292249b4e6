import { join } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { checkBmc } from '../../node/checks/bmc.ts';
import { Children, roomFor } from '../../node/checks/children.ts';
import { checkFileSystems } from '../../node/checks/file-systems.ts';
import { checkHardware, USUAL_LIMITS } from '../../node/checks/hardware.ts';
import { checkKdump } from '../../node/checks/kdump.ts';
import { checkPreviousBoot } from '../../node/checks/previous-boot.ts';
import { checkStorage } from '../../node/checks/storage.ts';
import { EXIT_CODES, lineOf, ok, unknown } from '../../node/checks/verdict.ts';
import type { Verdict } from '../../node/checks/verdict.ts';
import { checkWatchdog } from '../../node/checks/watchdog.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { usageExits } from '../usage-exits.ts';

interface PlaceFlags {
  root: string;
  state: string;
}

interface DeadlineFlags extends PlaceFlags {
  deadline: number;
}

/** Files of /sys and /proc are read at once; a kernel that does not let go of one ends no call. */
const WHOLE_MS = 4_000;
const HOUR_MS = 3_600_000;
const RUN = '/run/nodefence/checks';
const clock = new SystemClock();

/** `nodefence node check <name>`: one check, once, in the manner of a custom plugin of node-problem-detector. */
export function addCheckCommands(node: Command): void {
  const check = usageExits(new Command('check'))
    .description('check one thing of this node, once; as a plugin of node-problem-detector, or by hand')
    .addHelpText('after', '\nExit codes: 0 nothing is wrong, 1 a problem, 2 it could not be checked, or wrong usage. One line on stdout says which.');
  for (const one of [storage(), kdump(), hardware(), bmc(), previousBoot(), watchdog(), fileSystems()]) check.addCommand(one);
  node.addCommand(check);
}

function storage(): Command {
  return withDeadline(named('storage', 'shared storage: named mounts and devices answer, or else paths to storage are up'))
    .option('--mount <path>', 'mount point that a block is written to, synced and read back; may be given several times', collected, [])
    .option('--device <path>', 'block device whose first block is read; may be given several times', collected, [])
    .action(async ({ root, state, deadline, mount, device }: DeadlineFlags & { mount: string[]; device: string[] }) => {
      const targets = [...mount.map((path) => ({ kind: 'mount' as const, path })), ...device.map((path) => ({ kind: 'device' as const, path }))];
      const children = new Children({ clock, stateFolder: state, most: roomFor(targets.length) });
      await conclude(async () => checkStorage({ root, children }, { targets, deadlineMs: deadline * 1000 }), deadline * 1000);
    });
}

function fileSystems(): Command {
  return withDeadline(named('file-systems', 'file systems of disks take writes, and none is mounted read-only'))
    .option('--folder <path>', 'folder that a block is written to, synced and read back; may be given several times', collected, [])
    .option('--read-only <path>', 'mount point of a file system that is never written to; may be given several times', collected, [])
    .action(async ({ root, state, deadline, folder, readOnly }: DeadlineFlags & { folder: string[]; readOnly: string[] }) => {
      const deadlineMs = deadline * 1000;
      const options = { folders: folder.map((path) => join(root, path)), byDesign: readOnly, prober: '', deadlineMs };
      const children = new Children({ clock, stateFolder: state, most: roomFor(folder.length) });
      await conclude(async () => checkFileSystems({ root, children }, options), 2 * deadlineMs);
    });
}

function kdump(): Command {
  return named('kdump', 'kdump: a crash kernel is loaded, and notifies the controllers')
    .option('--controller <addresses>', 'addresses that must be notified, as they are configured; several, or with commas', listed, [])
    .action(async ({ root, controller }: PlaceFlags & { controller: string[] }) => {
      await conclude(async () => checkKdump(root, controller));
    });
}

function hardware(): Command {
  return named('hardware', 'memory errors that the kernel counted (EDAC) since the last calls')
    .option('--window <hours>', 'hours that errors are counted over', wholeNumber(1, 720), USUAL_LIMITS.windowMs / HOUR_MS)
    .option('--corrected <count>', 'corrected errors within the window that are no problem yet', wholeNumber(0, 1_000_000), USUAL_LIMITS.corrected)
    .option(
      '--uncorrected <count>',
      'uncorrected errors within the window that are no problem yet',
      wholeNumber(0, 1_000_000),
      USUAL_LIMITS.uncorrected,
    )
    .action(async ({ root, state, window, corrected, uncorrected }: PlaceFlags & { window: number; corrected: number; uncorrected: number }) => {
      const limits = { windowMs: window * HOUR_MS, corrected, uncorrected };
      await conclude(async () => checkHardware({ root, stateFolder: state, clock }, limits));
    });
}

function bmc(): Command {
  return withDeadline(named('bmc', 'the BMC answers in band (ipmitool)'))
    .option('--channel <number>', 'LAN channel whose address is shown; default: the first one that ipmitool finds', wholeNumber(0, 15))
    .action(async ({ root, state, deadline, channel }: DeadlineFlags & { channel?: number }) => {
      const children = new Children({ clock, stateFolder: state });
      const options = { deadlineMs: deadline * 1000, ...(channel === undefined ? {} : { channel }) };
      await conclude(async () => checkBmc({ root, clock, children }, options), deadline * 1000);
    });
}

function previousBoot(): Command {
  return named('previous-boot', 'what ended the previous boot: pstore, crash dumps, watchdog', '/var/lib/nodefence/checks')
    .option('--once', 'a crash is a problem in one call of each boot, and nothing else is: for rules in which each problem is an Event', false)
    .action(async ({ root, state, once }: PlaceFlags & { once: boolean }) => {
      await conclude(async () => checkPreviousBoot({ root, stateFolder: state }, { once }), 0, once ? silenced : undefined);
    });
}

function watchdog(): Command {
  return named('watchdog', 'the watchdog is armed')
    .option('--device <name>', 'watchdog that must be armed, such as watchdog0; default: any')
    .option('--timeout <seconds>', 'it must reset the node within so many seconds', wholeNumber(1, 86_400))
    .option('--hardware', 'a software watchdog does not count', false)
    .action(async ({ root, device, timeout, hardware: isHardware }: PlaceFlags & { device?: string; timeout?: number; hardware: boolean }) => {
      const wish = { isHardware, ...(device === undefined ? {} : { device }), ...(timeout === undefined ? {} : { timeoutSeconds: timeout }) };
      await conclude(async () => checkWatchdog(root, wish));
    });
}

function named(name: string, description: string, state = RUN): Command {
  return usageExits(new Command(name))
    .description(description)
    .option('--root <folder>', 'where the file system of the node is mounted', '/')
    .option('--state <folder>', 'where it keeps what it must know in its next call', state);
}

function withDeadline(command: Command): Command {
  return command.option('--deadline <seconds>', 'what has not answered by then does not answer', wholeNumber(1, 600), 4);
}

/** What ends a call of its own accord is one line and an exit code; nothing that hangs holds it. */
async function conclude(check: () => Promise<Verdict>, deadlineMs = 0, failed: (why: string) => Verdict = unknown): Promise<void> {
  const wholeMs = deadlineMs + WHOLE_MS;
  let cancel = (): void => undefined;
  const late = new Promise<Verdict>((resolve) => {
    cancel = clock.after(wholeMs, () => resolve(failed(`it did not end within ${wholeMs / 1000} s`)));
  });
  const checked = check().catch((error: unknown) => failed(error instanceof Error ? error.message : String(error)));
  const verdict = await Promise.race([checked, late]);
  cancel();
  const line = lineOf(verdict);
  if (line !== verdict.sentence) process.stderr.write(`${verdict.sentence}\n`);
  process.stdout.write(`${line}\n`, () => process.exit(EXIT_CODES[verdict.health]));
}

/** In a rule for Events not even a failure of the check is one. */
const silenced = (why: string): Verdict => ok(unknown(why).sentence);

function collected(text: string, before: readonly string[]): string[] {
  return [...before, text];
}

/** As `kdump-setup` takes them. */
function listed(text: string, before: readonly string[]): string[] {
  return [...before, ...text.split(',').filter((part) => part !== '')];
}

function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = Number(text);
    if (!/^\d+$/u.test(text) || number < least || number > most) throw new InvalidArgumentError(`must be a whole number from ${least} to ${most}.`);
    return number;
  };
}
