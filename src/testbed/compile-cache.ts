const VARIABLE = 'NODE_COMPILE_CACHE';

/** For the environment of a program that is started with few variables: without it each start compiles the program anew, unless one before has ended. */
export function compileCache(): Record<string, string> {
  const folder = process.env[VARIABLE];
  return folder === undefined ? {} : { [VARIABLE]: folder };
}
