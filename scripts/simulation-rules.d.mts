/** Globs and files of the code that runs under simulation. */
export const SIMULATED: readonly string[];
