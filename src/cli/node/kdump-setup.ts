import { isIP } from 'node:net';
import { Command, InvalidArgumentError } from 'commander';
import { usageExits } from '../usage-exits.ts';

interface Flags {
  controller: string[];
  dryRun: boolean;
  root: string;
}

const CONTROLLERS_MAX = 16;

/** `nodefence node kdump-setup`: the crash kernel of this node notifies the controllers. */
export function kdumpSetupCommand(): Command {
  return usageExits(new Command('kdump-setup'))
    .description('let the crash kernel of this node notify the controllers (fence_kdump): writes /etc/kdump.conf, or a unit for kdump-tools')
    .requiredOption('--controller <addresses>', 'addresses of the controllers, as the crash kernel reaches them; several, or with commas', addresses)
    .option('--dry-run', 'show what would be written, and write nothing', false)
    .option('--root <folder>', 'where the file system of the node is mounted', '/')
    .addHelpText('after', '\nExit codes: 0 it stands as it should, 1 it cannot be set up, 2 wrong usage.')
    .action(async ({ controller, dryRun, root }: Flags) => {
      // The daemon, which is a command of the same, loads none of it.
      const { setUpKdump } = await import('./kdump-page.ts');
      await setUpKdump(root, controller, dryRun);
    });
}

function addresses(text: string, before: readonly string[] = []): string[] {
  const given = text.split(',').filter((address) => address !== '');
  const wrong = given.find((address) => isIP(address) === 0 && !/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/i.test(address));
  if (wrong !== undefined || given.length === 0) throw new InvalidArgumentError('must be IP addresses or host names.');
  if (before.length + given.length > CONTROLLERS_MAX) throw new InvalidArgumentError(`must be at most ${CONTROLLERS_MAX}.`);
  return [...before, ...given];
}
