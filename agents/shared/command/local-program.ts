import type { ParameterProblem } from '../../../src/ports/agents.ts';
import type { ProgramFolder } from '../process/program-folder.ts';

/** A parameter whose value begins with a program that runs on the controller's machine. */
export interface LocalProgram {
  parameter: string;
  program: string;
}

/** Programs that no call would start. */
export function localProblems(named: readonly LocalProgram[], programs: ProgramFolder): ParameterProblem[] {
  return named.flatMap(({ parameter, program }) => {
    const located = programs.locate(program, 'run');
    return located.kind === 'refused' || located.kind === 'absent' ? [{ parameter, message: `cannot run: ${located.message}` }] : [];
  });
}

/** What is not looked for, or not run, by this process. */
export function localWarnings(named: readonly LocalProgram[], programs: ProgramFolder): ParameterProblem[] {
  const { withheld } = programs;
  const [first] = named;
  if (withheld !== undefined && first !== undefined) return [{ parameter: first.parameter, message: `is not run: ${withheld}` }];
  return named.flatMap(({ parameter, program }) => {
    const located = programs.locate(program, 'run');
    return located.kind === 'unseen' ? [{ parameter, message: `runs where the controller runs: ${located.message}` }] : [];
  });
}
