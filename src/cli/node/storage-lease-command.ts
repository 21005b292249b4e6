import { Command, InvalidArgumentError } from 'commander';
import { SECTOR_SIZES, SLOTS_MAX } from '../../domain/node-daemon/storage-lease/layout.ts';
import type { SectorSize } from '../../domain/node-daemon/storage-lease/layout.ts';
import { usageExits } from '../usage-exits.ts';
import { absolute, clusterName, slotNumber } from './storage-lease-options.ts';

const SLOTS = 255;
const RUN = '/run/nodefence/checks';

/** `nodefence node storage-lease`: slots on shared storage in which nodes show that they live. */
export function storageLeaseCommand(): Command {
  const lease = usageExits(new Command('storage-lease')).description('slots on shared storage in which nodes show that they live');
  lease.addCommand(
    named('init', 'lay out a block device or a file; refuses one on which anything else stands')
      .requiredOption('--cluster <name>', 'cluster whose nodes renew their slots there', clusterName)
      .option('--slots <count>', 'nodes at most', slotCount, SLOTS)
      .option('--sector-size <bytes>', 'of the device, or a multiple of it: 512 or 4096', sectorSize, 4_096)
      .option('--overwrite', 'whatever stands there now', false)
      .action(async (path: string, options: { state: string; cluster: string; slots: number; sectorSize: SectorSize; overwrite: boolean }) =>
        (await import('./storage-lease-page.ts')).initLease(path, options),
      ),
  );
  lease.addCommand(
    named('show', 'show whose slots stand there').action(async (path: string, { state }: { state: string }) =>
      (await import('./storage-lease-page.ts')).showLease(path, state),
    ),
  );
  lease.addCommand(
    named('clear', 'empty a slot that nobody renews any more')
      .requiredOption('--slot <number>', 'which', slotNumber)
      .action(async (path: string, { state, slot }: { state: string; slot: number }) =>
        (await import('./storage-lease-page.ts')).clearSlot(path, state, slot),
      ),
  );
  return lease;
}

function named(name: string, description: string): Command {
  return usageExits(new Command(name))
    .description(description)
    .argument('<path>', 'block device or file that the nodes share', absolute)
    .option('--state <folder>', 'where a child that hangs is noted', RUN)
    .addHelpText('after', '\nExit codes: 0 done, 1 refused or failed, 2 wrong usage.');
}

function slotCount(text: string): number {
  const slots = Number(text);
  if (!/^\d{1,4}$/u.test(text) || slots < 1 || slots > SLOTS_MAX) throw new InvalidArgumentError(`must be a whole number from 1 to ${SLOTS_MAX}.`);
  return slots;
}

function sectorSize(text: string): SectorSize {
  const size = SECTOR_SIZES.find((one) => String(one) === text);
  if (size === undefined) throw new InvalidArgumentError('must be 512 or 4096.');
  return size;
}
