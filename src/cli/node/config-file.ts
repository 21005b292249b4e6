import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import type { Command, Option } from 'commander';
import { nearest } from '../../config/nearest.ts';
import { parseBoolean, parseProperties } from '../../config/properties.ts';

export interface ConfigLines {
  file: string;
  isThere: boolean;
}

/** `path`, or of a folder the file that bears the name of the node: a node may have none there, and a file that is named must be there. */
export function configFileOf(path: string, node: string): ConfigLines {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) return { file: path, isThere: true };
  const file = join(path, node);
  return { file, isThere: existsSync(file) };
}

/** Reads settings of a daemon from a file of `key=value` lines, as the ConfigMaps of a fence configuration are written. A flag and a variable win. Throws what is wrong, all of it. */
export function applyConfigFile(command: Command, path: string): void {
  const options = new Map(command.options.flatMap((option) => (isSetting(option) ? [[keyOf(option), option] as const] : [])));
  const { entries, problems } = parseProperties(readFileSync(path, 'utf8'));
  const wrong = problems.map(({ line, message }) => `line ${line}: ${message}`);
  for (const { key, value, line } of entries) {
    const option = options.get(key);
    const problem = option === undefined ? unknown(key, [...options.keys()]) : apply(command, option, value);
    if (problem !== undefined) wrong.push(`line ${line}: ${problem}`);
  }
  if (wrong.length > 0) throw new Error(`${path}: ${wrong.join('; ')}`);
}

function isSetting({ long }: Option): boolean {
  return typeof long === 'string' && long !== '--config';
}

function keyOf({ long }: Option): string {
  return (long ?? '').replace(/^--/, '').replaceAll('-', '_');
}

function unknown(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  return `unknown key ${key.slice(0, 60)}${meant === undefined ? '' : `: did you mean ${meant}?`}`;
}

/** What is wrong with the value; it is checked though another one wins. */
function apply(command: Command, option: Option, value: string): string | undefined {
  const name = option.attributeName();
  try {
    const parsed: unknown = option.isBoolean() ? switched(value) : parsedBy(option, value);
    if (command.getOptionValueSource(name) === 'default' || command.getOptionValueSource(name) === undefined)
      command.setOptionValueWithSource(name, parsed, 'config');
    return undefined;
  } catch (error) {
    if (!(error instanceof CommanderError) && !(error instanceof RangeError)) throw error;
    return `${keyOf(option)}=${value.slice(0, 60)}: ${error.message}`;
  }
}

function parsedBy({ parseArg }: Option, value: string): unknown {
  return parseArg === undefined ? value : parseArg<unknown>(value, undefined);
}

function switched(value: string): boolean {
  const parsed = parseBoolean(value);
  if (parsed === undefined) throw new RangeError('must be yes or no.');
  return parsed;
}
