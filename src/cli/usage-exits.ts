import type { Command } from 'commander';

const DONE = 0;
const WRONG_USAGE = 2;

/** Wrong usage ends with 2, help with 0. */
export function usageExits(command: Command): Command {
  return command.exitOverride((error) => process.exit(error.exitCode === 0 ? DONE : WRONG_USAGE));
}
