/** How a defect must be noticed. The sound core passes the same check. */
export type Check =
  /** The exhaustive search of the automaton (test/laws) breaks a law, or comes to no end. */
  | { kind: 'search' }
  /** One test, by the end of its full name, in its file. */
  | { kind: 'test'; file: string; name: string };

/** A deliberate defect in the source of the core: each text stands in its file exactly once and is replaced while the module is loaded. */
export interface SourceMutant {
  name: string;
  /** What is broken, as a clause. */
  defect: string;
  /** From the root of the repository; of every edit that names no other. */
  file: string;
  edits: readonly (readonly [sound: string, broken: string, file?: string])[];
  killedBy: Check;
}

export function byTest(file: string, name: string): Check {
  return { kind: 'test', file, name };
}

export const BY_SEARCH: Check = { kind: 'search' };

/** The files that the defect stands in. */
export function filesOf({ file, edits }: SourceMutant): Set<string> {
  return new Set(edits.map(([_sound, _broken, other]) => other ?? file));
}

/** The source of one file with the defect. Throws where a text is not there exactly once: the mutant has to follow the source. */
export function broken(mutant: SourceMutant, file: string, source: string): string {
  let result = source;
  for (const [from, to] of mutant.edits.filter(([_sound, _broken, other]) => (other ?? mutant.file) === file)) {
    const parts = result.split(from);
    if (parts.length !== 2)
      throw new Error(`mutant ${mutant.name}: ${JSON.stringify(from)} stands ${parts.length - 1} times in ${file}; exactly once is needed`);
    result = parts.join(to);
  }
  return result;
}
