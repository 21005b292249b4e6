import { Command, Option } from 'commander';
import { usageExits } from '../usage-exits.ts';
import type { TokenToRenew } from './renew-token.ts';
import { absolute } from './storage-lease-options.ts';

/** `nodefence node renew-token`: for a timer, where no kubelet renews it. The node, the namespace and the kubeconfig are options of `nodefence node`. */
export function renewTokenCommand(): Command {
  return usageExits(new Command('renew-token'))
    .description('get another token of a week with the one that the kubeconfig names, and put it in its place (config/node-daemon-token)')
    .addOption(
      new Option('--file <path>', 'where the token stands: tokenFile of the kubeconfig')
        .argParser(absolute)
        .default('/var/lib/nodefence-node-token/token'),
    )
    .addHelpText('after', '\nExit codes: 0 renewed, 1 refused or failed, and the old one stands, 2 wrong usage.')
    .action(async (_own: object, command: Command) => (await import('./renew-token.ts')).renewToken(command.optsWithGlobals<TokenToRenew>()));
}
