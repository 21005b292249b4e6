import type { NodeDaemonStatus } from '../../node/core/daemon.ts';
import { askStatus } from '../../node/shell/status-socket.ts';
import { EXIT } from '../commands/failure.ts';
import { processConsole } from '../commands/terminal/console.ts';
import { harmless } from '../commands/terminal/text.ts';

/** Asks the daemon that answers on that socket, and prints what it says. */
export async function showStatus(socket: string, output: 'text' | 'json'): Promise<void> {
  const console = processConsole();
  try {
    const status = (await askStatus(socket)) as NodeDaemonStatus;
    console.print(output === 'json' ? JSON.stringify(status, undefined, 2) : pageOf(status));
  } catch (error) {
    console.say(`nodefence: ${harmless(error instanceof Error ? error.message : String(error))}`);
    process.exitCode = EXIT.failed;
  }
}

export function pageOf(status: NodeDaemonStatus): string {
  const { watchdog, keptForSeconds, attestedSecondsAgo, peers } = status;
  const device = watchdog.device === undefined ? '' : ` ${watchdog.device} (${watchdog.identity ?? ''}), ${watchdog.timeoutSeconds ?? 0} s`;
  const kept =
    keptForSeconds === undefined
      ? ''
      : keptForSeconds < 0
        ? `, not kept up for ${tenths(-keptForSeconds)} s`
        : `, kept up for ${tenths(keptForSeconds)} s`;
  const peer = ({ node, domain, isAttested }: NodeDaemonStatus['peers'][number]): string =>
    `${node}${domain === undefined ? '' : ` (${domain})`}${isAttested ? '' : ', not attested yet'}`;
  const rows: [string, string][] = [
    ['Node', status.node],
    ['Boot', status.bootID],
    ['Self-fence', `${status.phase}${kept}`],
    ['Watchdog', `${watchdog.state}${device}`],
    ['Attested', attestedSecondsAgo === undefined ? 'never' : `${tenths(attestedSecondsAgo)} s ago`],
    ['Controllers', status.controllers.join(', ') || 'none known'],
    ['Peers', peers.map(peer).join('; ') || 'none'],
    ...(status.orders ?? []).map(({ action, state, words }): [string, string] => ['Order', `${action}: ${state}: ${words}`]),
    ...status.checks.map(({ name, sentence, secondsAgo }): [string, string] => ['Check', `${name}: ${sentence} (${secondsAgo} s ago)`]),
    ...(status.unfence === undefined ? [] : [['Unfencing', `${status.unfence.state} (${status.unfence.detail})`] as [string, string]]),
    ...Object.entries(status.refusedDatagrams).map(([why, count]): [string, string] => ['Refused', `${count} datagrams: ${why}`]),
    ...(status.areGrantsEnded ? [['Grants', 'ended: this boot goes down'] as [string, string]] : []),
    ...status.problems.map((problem): [string, string] => ['Problem', problem]),
  ];
  return rows.map(([name, text]) => `${`${name}:`.padEnd(13)}${harmless(text)}`).join('\n');
}

function tenths(seconds: number): string {
  return seconds.toFixed(1);
}
