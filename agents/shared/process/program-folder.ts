import { realpathSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { dirname, join, sep } from 'node:path';

import { NO_PROGRAMS } from '../../../src/ports/programs.ts';
import type { ProgramRights } from '../../../src/ports/programs.ts';
import { isExecutable } from './run-program.ts';

/** One file of the folder: never a path, never hidden, never an option. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,254}$/;
const WRITABLE_BY_OTHERS = 0o022;
const ROOT = 0;

/** What a name in a configuration stands for. */
export type Located =
  /** Where it really is, every link followed. */
  | { kind: 'found'; file: string }
  /** There is none of that name; `words` say it. */
  | { kind: 'absent'; message: string }
  /** It must not be used. */
  | { kind: 'refused'; message: string }
  /** It is on another machine. */
  | { kind: 'unseen'; message: string };

/**
 * The only place from which programs run that a ConfigMap or a Secret names. Whoever may write ConfigMaps chooses among what the admin put there, and brings
 * nothing of their own. Looked at anew each time: a program that was fine at the last reload need not be so when a node fails.
 */
export class ProgramFolder {
  readonly #rights: ProgramRights;

  constructor(rights: ProgramRights = NO_PROGRAMS) {
    this.#rights = rights;
  }

  /** A folder of this machine is named. */
  get isGiven(): boolean {
    return this.#rights.kind === 'folder';
  }

  /** Why nothing is run although a name may be right; undefined: what is found is run. */
  get withheld(): string | undefined {
    return this.#rights.kind === 'folder' ? this.#rights.withheld : undefined;
  }

  /** A program (`run`), or a file that one reads (`read`), by its name. */
  locate(name: string, use: 'run' | 'read'): Located {
    const rights = this.#rights;
    if (!NAME.test(name))
      return refused(`${name.slice(0, 100)} is a path or no name: write the name of one file of the folder that --programs of the controller names`);
    if (rights.kind === 'none')
      return refused(
        `${name} would be run or read on the controller’s machine, which gives no program to a configuration: start it with --programs DIR`,
      );
    if (rights.kind === 'elsewhere')
      return {
        kind: 'unseen',
        message: `${name} has to be in ${rights.folder ?? 'the folder that --programs of the controller names'}: not looked for from here`,
      };
    return located(rights.path, name, use);
  }

  /** The file, for a call that is about to run or read it; else why it must not. */
  demand(name: string, use: 'run' | 'read'): { file: string } | { refusal: string } {
    const found = this.locate(name, use);
    if (found.kind !== 'found') return { refusal: found.message };
    return this.withheld === undefined ? { file: found.file } : { refusal: `${name} is not run: ${this.withheld}` };
  }
}

function refused(message: string): Located {
  return { kind: 'refused', message };
}

function located(path: string, name: string, use: 'run' | 'read'): Located {
  try {
    const folder = realpathSync(path);
    const file = realpathSync(join(folder, name));
    if (!file.startsWith(folder.endsWith(sep) ? folder : folder + sep))
      return refused(`${name} leads out of ${path}, to ${file}: put the file itself there`);
    if (!statSync(file).isFile()) return refused(`${name} in ${path} is no file`);
    const loose = wayTo(file, folder).find((place) => isLoose(statSync(place)));
    if (loose !== undefined)
      return refused(`${loose} can be changed by others: it must belong to root or to the controller’s user, writable by nobody else (chmod go-w)`);
    if (use === 'run' && !isExecutable(file)) return refused(`${file} may not be run: chmod 755`);
    return { kind: 'found', file };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'absent', message: `there is no ${name} in ${path}, the folder of --programs` };
    return refused(`${name} in ${path} cannot be looked at (${code})`);
  }
}

/** The file and every folder above it, up to that of the programs. */
function wayTo(file: string, folder: string): string[] {
  const places = [file];
  for (let place = file; place !== folder && place !== dirname(place);) places.push((place = dirname(place)));
  return places;
}

function isLoose({ mode, uid }: Stats): boolean {
  return (mode & WRITABLE_BY_OTHERS) !== 0 || (uid !== ROOT && uid !== process.getuid?.());
}
