import type { Command } from 'commander';
import { withSwitchVariables } from './switch-variables.ts';

const DONE = 0;
const WRONG_USAGE = 2;

/** Wrong usage ends with 2, and says where the right one is told; help ends with 0. */
export function usageExits(command: Command): Command {
  return withSwitchVariables(command)
    .configureOutput({ outputError: (text, write) => write(`${text}See ${fullName(command)} --help\n`) })
    .exitOverride((error) => process.exit(error.exitCode === 0 ? DONE : WRONG_USAGE));
}

/** `nodefence node check` */
function fullName(command: Command): string {
  return command.parent === null ? command.name() : `${fullName(command.parent)} ${command.name()}`;
}
