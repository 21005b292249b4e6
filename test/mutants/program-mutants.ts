import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const FOLDER = 'agents/shared/process/program-folder.ts';
const FOLDER_TEST = 'agents/shared/process/program-folder.test.ts';
const RIGHTS = 'src/cli/program-rights.ts';
const COMPOSED = 'test/installation/programs.test.ts';

/** Ways in which a ConfigMap would run code. */
export const PROGRAM_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'program by a path',
    defect: 'a program may be named by a path with ..',
    file: FOLDER,
    edits: [
      ['if (!NAME.test(name))', "if (name === '')"],
      ['!file.startsWith(folder.endsWith(sep) ? folder : folder + sep)', 'false'],
    ],
    killedBy: byTest(COMPOSED, 'runs no program by a path with ..'),
  },
  {
    name: 'program behind a link',
    defect: 'a link in the folder leads to any program of the machine',
    file: FOLDER,
    edits: [['if (!file.startsWith(folder.endsWith(sep) ? folder : folder + sep))', "if (file === '')"]],
    killedBy: byTest(FOLDER_TEST, 'is refused where a link leads out of the folder'),
  },
  {
    name: 'folder named alike',
    defect: 'a folder whose name begins like that of the programs counts as within it',
    file: FOLDER,
    edits: [['folder.endsWith(sep) ? folder : folder + sep', 'folder']],
    killedBy: byTest(FOLDER_TEST, 'is refused where it is in a folder whose name only begins alike'),
  },
  {
    name: 'program of anybody',
    defect: 'a program that others can change is run',
    file: FOLDER,
    edits: [['const WRITABLE_BY_OTHERS = 0o022;', 'const WRITABLE_BY_OTHERS = 0;']],
    killedBy: byTest(FOLDER_TEST, 'is refused where everybody may change it'),
  },
  {
    name: 'program in a folder of anybody',
    defect: 'the folder of programs may be one into which others put files',
    file: FOLDER,
    edits: [['const places = [file];', 'const places = [file];\n  if (file !== folder) return places;']],
    killedBy: byTest(FOLDER_TEST, 'is refused where others may put files into the folder: a ConfigMap that is mounted is such a one'),
  },
  {
    name: 'program in observe',
    defect: 'mode observe runs programs that a configuration names',
    file: RIGHTS,
    edits: [["(mode === 'enforce' ? {} : { withheld: OBSERVE_RUNS_NONE })", '(mode === undefined ? { withheld: OBSERVE_RUNS_NONE } : {})']],
    killedBy: byTest(COMPOSED, 'runs none in mode observe, not even to ask what it takes'),
  },
  {
    name: 'program in validate',
    defect: 'validate runs programs that a configuration names',
    file: RIGHTS,
    edits: [['(allowPrograms === true ? {}', '(allowPrograms !== false ? {}']],
    killedBy: byTest(COMPOSED, 'runs none for validate without --allow-programs'),
  },
  {
    name: 'withheld and run',
    defect: 'what is withheld is run all the same',
    file: FOLDER,
    edits: [['return this.withheld === undefined ? { file: found.file }', 'return found.file !== undefined ? { file: found.file }']],
    killedBy: byTest(FOLDER_TEST, 'is not run where it is withheld, and is looked at all the same'),
  },
  {
    name: 'programs without the flag',
    defect: 'without --programs a program is looked for on the path',
    file: 'agents/shared/command/command-runner.ts',
    edits: [
      ["if ('refusal' in program) throw call.error('Misconfigured', program.refusal);", ''],
      ['[program.file, ...words]', "['refusal' in program ? name : program.file, ...words]"],
    ],
    killedBy: byTest(COMPOSED, 'runs none without --programs'),
  },
  {
    name: 'agent runs what it is told',
    defect: 'a fence agent of ClusterLabs starts the program that ssh_path names',
    file: 'agents/exec/local-files.ts',
    edits: [['if (use !== undefined) {\n    const located', 'if (use === null) {\n    const located']],
    killedBy: byTest('agents/exec/local-files.test.ts', 'is refused: ssh_path=/tmp/evil'),
  },
];
