import { Option } from 'commander';
import type { Command } from 'commander';
import { ProgramFolder } from '../../../agents/shared/process/program-folder.ts';
import { NotStarted, runProgram } from '../../../agents/shared/process/run-program.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ProgramRights } from '../../ports/programs.ts';
import { SecretUnread } from '../../ports/secret-stores.ts';
import type { SecretPlace, SecretQuestion, SecretStores } from '../../ports/secret-stores.ts';
import { programFolder } from '../program-rights.ts';
import { isSecretName, readSecretFile } from './secret-folder.ts';
import { readSecretText, SECRET_BYTES_MAX } from './secret-text.ts';

/** A fence waits for it. */
const DEADLINE_MS = 5_000;
const PASSING = { mayPass: true };

interface Sources {
  /** Folder of `--secret-files`; absent: no file is read. */
  files: string | undefined;
  programs: ProgramRights;
  clock: Clock;
}

/** Logins in files and from programs of the controller's machine, read at each run and kept nowhere. */
export class HostSecrets implements SecretStores {
  readonly #files: string | undefined;
  readonly #programs: ProgramFolder;
  readonly #clock: Clock;

  constructor({ files, programs, clock }: Sources) {
    this.#files = files;
    this.#programs = new ProgramFolder(programs);
    this.#clock = clock;
  }

  problem({ kind, name }: SecretPlace): string | undefined {
    if (kind === 'program') {
      const located = this.#programs.locate(name, 'run');
      return located.kind === 'refused' ? `secret_program=${located.message}` : undefined;
    }
    if (!isSecretName(name))
      return `secret_file=${name.slice(0, 100)} is no name of a file below the folder that --secret-files of the controller names: bmc-a, or rack-3/bmc-a; no .., no hidden name`;
    return this.#files === undefined ? `secret_file=${name} is read from no folder: start the controller with --secret-files DIR` : undefined;
  }

  async read(place: SecretPlace, question: SecretQuestion): Promise<Readonly<Record<string, string>>> {
    const problem = this.problem(place);
    if (problem !== undefined) throw new SecretUnread(problem);
    return place.kind === 'program' ? this.#ask(place.name, question) : this.#inTime(readSecretFile(this.#files ?? '', place.name), place.name);
  }

  /** A file of a network may hang. */
  #inTime<T>(reading: Promise<T>, name: string): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(DEADLINE_MS, () =>
        reject(new SecretUnread(`secret_file ${name} was not read within ${DEADLINE_MS} ms`, PASSING)),
      );
      reading.then(resolve, reject).finally(cancel);
    });
  }

  /** The question is JSON on its standard input; the answer, lines `key=value`. What else it says is not repeated: it could be the secret. */
  async #ask(name: string, question: SecretQuestion): Promise<Readonly<Record<string, string>>> {
    const program = this.#programs.demand(name, 'run');
    if ('refusal' in program) throw new SecretUnread(`secret_program=${program.refusal}`);
    const run = { argv: [program.file], stdin: `${JSON.stringify(question)}\n`, clock: this.#clock, signal: new AbortController().signal };
    const result = await runProgram({ ...run, deadlineMs: DEADLINE_MS, outputMaxBytes: SECRET_BYTES_MAX }).catch((error: unknown) => {
      throw error instanceof NotStarted ? new SecretUnread(`secret_program ${name}: ${error.message}`) : error;
    });
    if (result.ended !== 'exited') throw new SecretUnread(`secret_program ${name} did not end within ${DEADLINE_MS} ms`, PASSING);
    if (result.code !== 0)
      throw new SecretUnread(
        `secret_program ${name} ended with ${result.code === null ? String(result.signal) : `code ${result.code}`}: run it by hand`,
        PASSING,
      );
    if (result.isCut) throw new SecretUnread(`secret_program ${name} printed more than ${SECRET_BYTES_MAX} bytes`);
    const found = readSecretText(result.stdout);
    if ('problem' in found) throw new SecretUnread(`what secret_program ${name} printed: ${found.problem}`);
    return found.keys;
  }
}

export interface SecretFlags {
  secretFiles?: string;
}

export function withSecretFilesOption(command: Command): Command {
  const description = 'folder of logins that secret_file= of the configuration may name; read at each run; default: no folder';
  return command.addOption(new Option('--secret-files <dir>', description).env('NODEFENCE_SECRET_FILES').argParser(programFolder));
}
