import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { NO_PROGRAMS } from '../ports/programs.ts';
import type { ProgramRights } from '../ports/programs.ts';

export const OBSERVE_RUNS_NONE = 'mode observe runs no program that a configuration names';
export const VALIDATE_RUNS_NONE = 'validate runs no program that a configuration names without --allow-programs';

/** Of the controller: `observe` is tried before anybody trusts the configuration. */
export function rightsOfController(folder: string | undefined, mode: 'observe' | 'enforce'): ProgramRights {
  if (folder === undefined) return NO_PROGRAMS;
  return { kind: 'folder', path: folder, ...(mode === 'enforce' ? {} : { withheld: OBSERVE_RUNS_NONE }) };
}

export interface ProgramFlags {
  programs?: string;
  allowPrograms?: true;
}

/** Of `validate`: this machine is the controller's only where the flag says so. `ofLeader`: as the leader says it. */
export function rightsOfValidate({ programs, allowPrograms }: ProgramFlags, ofLeader: string | undefined): ProgramRights {
  if (programs === undefined) return rightsElsewhere(ofLeader);
  return { kind: 'folder', path: programs, ...(allowPrograms === true ? {} : { withheld: VALIDATE_RUNS_NONE }) };
}

/** What a person's command knows of the controller's programs. `ofLeader`: empty, none; absent, it does not say. */
export function rightsElsewhere(ofLeader: string | undefined): ProgramRights {
  if (ofLeader === '') return NO_PROGRAMS;
  return { kind: 'elsewhere', ...(ofLeader === undefined ? {} : { folder: `${ofLeader} where the controller runs` }) };
}

export function programFolder(text: string): string {
  if (!/^\/[^\p{Cc}]{0,500}$/u.test(text)) throw new InvalidArgumentError('must be the path of a folder, from the root.');
  return text;
}

/** Of the controller. */
export function withProgramOption(command: Command): Command {
  const description = 'folder of the programs that the configuration may run on this machine; none run in mode observe; default: no folder';
  return command.addOption(new Option('--programs <dir>', description).env('NODEFENCE_PROGRAMS').argParser(programFolder));
}
