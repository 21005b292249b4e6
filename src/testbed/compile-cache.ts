const VARIABLE = 'NODE_COMPILE_CACHE';

/** For the environment of a program that a test starts with few variables: without it each start compiles the program anew. */
export function compileCache(): Record<string, string> {
  const folder = process.env[VARIABLE];
  return folder === undefined ? {} : { [VARIABLE]: folder };
}
