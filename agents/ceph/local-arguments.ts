import type { ParameterProblem } from '../../src/ports/agents.ts';
import type { ProgramFolder } from '../shared/process/program-folder.ts';

/** Who asks, of which cluster, for how long: nothing that names a file or loads code. */
const PLAIN: ReadonlySet<string> = new Set(['-n', '--name', '--id', '--user', '--cluster', '--connect-timeout']);
/** A configuration can name plugins and files of its own, and is put beside the program for that reason. */
const FILES: ReadonlySet<string> = new Set(['-c', '--conf', '-k', '--keyring']);
const VALUE = /^[A-Za-z0-9][A-Za-z0-9_.@-]*$/;

/** The words as the program gets them here, files as those of the folder of programs that they name; or what is wrong with them. */
export function localArguments(words: readonly string[], programs: ProgramFolder, isCalled: boolean): readonly string[] | ParameterProblem {
  const problem = (message: string): ParameterProblem => ({ parameter: 'arguments', message });
  const given: string[] = [];
  for (let index = 0; index < words.length; index += 2) {
    const [option = '', value = ''] = words.slice(index, index + 2);
    if (FILES.has(option)) {
      const found = isCalled ? programs.demand(value, 'read') : programs.locate(value, 'read');
      if ('refusal' in found) return problem(`cannot be used: ${found.refusal}`);
      if ('kind' in found && (found.kind === 'refused' || found.kind === 'absent')) return problem(`cannot be used: ${found.message}`);
      given.push(option, 'file' in found ? found.file : value);
    } else if (PLAIN.has(option) && VALUE.test(value)) given.push(option, value);
    else return problem(`may be pairs of ${[...PLAIN, ...FILES].join(', ')} and a value only, where the program runs on the controller’s machine`);
  }
  return given;
}
