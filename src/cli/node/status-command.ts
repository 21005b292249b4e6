import { Command, Option } from 'commander';
import { STATUS_SOCKET } from '../../node/shell/status-socket.ts';
import { usageExits } from '../usage-exits.ts';

/** `nodefence node status`: what the daemon of this node says of itself. The daemon loads nothing of how it is shown. */
export function statusCommand(): Command {
  return usageExits(new Command('status'))
    .description('show what the daemon of this node does')
    .addOption(new Option('--socket <path>', 'where the daemon answers').default(`/run/nodefence/${STATUS_SOCKET}`))
    .addOption(new Option('-o, --output <format>', 'format').choices(['text', 'json']).default('text'))
    .addHelpText('after', '\nExit codes: 0 shown, 1 no daemon answers, 2 wrong usage.')
    .action(async ({ socket, output }: { socket: string; output: 'text' | 'json' }) => {
      const { showStatus } = await import('./status-page.ts');
      await showStatus(socket, output);
    });
}
