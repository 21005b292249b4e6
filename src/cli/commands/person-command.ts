import { Command } from 'commander';
import { accessCluster, withClusterOptions } from '../cluster-access.ts';
import type { ClusterAccess, ClusterFlags } from '../cluster-access.ts';
import { usageExits } from '../usage-exits.ts';
import { EXIT, failureOf } from './failure.ts';
import type { ExitCode } from './failure.ts';
import { processConsole } from './terminal/console.ts';
import type { Console } from './terminal/console.ts';
import { wrapped } from './terminal/text.ts';

/** A command at work: the cluster and the terminal of the person who called it. */
export interface Session {
  access: ClusterAccess;
  console: Console;
}

const UNBROKEN = 10_000;
const EXIT_CODES = '\nExit codes: 0 done, 1 failed, 2 wrong usage, 3 held.';

/** A command for people, with the options that say which cluster is meant. */
export function personCommand(name: string, description: string): Command {
  return withClusterOptions(usageExits(new Command(name)).description(description)).addHelpText('after', EXIT_CODES);
}

/** Runs `work` against the cluster that the flags name, says what went wrong in one paragraph, and sets the exit code. */
export async function run(flags: ClusterFlags, work: (session: Session) => Promise<ExitCode>): Promise<void> {
  const console = processConsole();
  process.stdout.on('error', endOnClosedPipe);
  let access: ClusterAccess | undefined;
  try {
    access = await accessCluster(flags);
    process.exitCode = await work({ access, console });
  } catch (error) {
    const { words, exitCode } = failureOf(error, access?.server);
    console.say(wrapped(`nodefence: ${words}`, console.width ?? UNBROKEN, '  '));
    process.exitCode = exitCode;
  } finally {
    access?.close();
  }
}

/** `nodefence status | head`: whoever reads has enough. */
function endOnClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(EXIT.done);
}
