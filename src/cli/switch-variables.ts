import type { Command, Option } from 'commander';
import { parseBoolean } from '../config/properties.ts';

/** A switch that a variable sets is what the variable says: commander takes one that is there for `yes`, also `NODEFENCE_NODE_SELF_FENCE=false`. */
export function withSwitchVariables(command: Command): Command {
  return command.hook('preAction', (_asked, called) => {
    for (const option of called.options) if (option.isBoolean() && option.envVar !== undefined) readSwitch(called, option, option.envVar);
  });
}

function readSwitch(command: Command, option: Option, variable: string): void {
  const name = option.attributeName();
  if (command.getOptionValueSource(name) !== 'env') return;
  const text = process.env[variable] ?? '';
  const isOn = parseBoolean(text.trim());
  if (isOn === undefined)
    command.error(`error: option '${option.flags}' value '${text.slice(0, 60)}' from env '${variable}' is invalid. It must be yes or no.`);
  else command.setOptionValueWithSource(name, isOn, 'env');
}
