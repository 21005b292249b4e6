import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { RemedyText } from '../config/remedies.ts';
import { programFolder } from './program-rights.ts';

/** What a file may hold: a Configuration is some kilobytes. */
const BYTES_MAX = 1_048_576;
const FILES_MAX = 64;

/** The Configurations of a folder, as they are now (`*.yaml`, sorted). Throws where the folder, or a file of it, cannot be read. */
export function remedyTexts(folder: string): RemedyText[] {
  const names = readdirSync(folder)
    .filter((name) => /\.ya?ml$/u.test(name))
    .sort();
  if (names.length > FILES_MAX)
    throw new Error(`${folder} has ${names.length} files of remedies, and ${FILES_MAX} may be there: put several Configurations into one file`);
  return names.map((name) => {
    const path = join(folder, name);
    const text = readFileSync(path, 'utf8');
    if (text.length > BYTES_MAX) throw new Error(`${path} is too large for remedies: ${BYTES_MAX} bytes may be`);
    return { name, text, where: (line) => `${path}, line ${line}` };
  });
}

export interface RemedyFlags {
  remedies?: string;
}

export function withRemediesOption(command: Command): Command {
  const description = 'folder of remedy Configurations (*.yaml), beside those of ConfigMaps; read again every few seconds; default: none';
  return command.addOption(new Option('--remedies <dir>', description).env('NODEFENCE_REMEDIES').argParser(programFolder));
}

/** A folder that cannot be read is told by the controller, also when that is later. */
export function remedyPorts({ remedies: folder }: RemedyFlags): { remedyFiles?: () => readonly RemedyText[] } {
  return folder === undefined ? {} : { remedyFiles: () => remedyTexts(folder) };
}
