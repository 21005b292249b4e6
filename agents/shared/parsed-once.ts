import type { Parameters } from '../../src/ports/agents.ts';

/** `key`: of the session or connection that these settings may share. */
export type ParsedOnce<S extends object> = { settings: S; key: string } | { problems: string[] };

/** Parameters are parsed once for a job, not once for each of its reads: all of these hand on one object. Certificates in them cost most. */
export function parsedOnce<S extends object>(
  parse: (parameters: Parameters) => S | { problems: string[] },
  keyOf: (settings: S) => string,
): (parameters: Parameters) => ParsedOnce<S> {
  const known = new WeakMap<Parameters, ParsedOnce<S>>();
  return (parameters) => {
    const before = known.get(parameters);
    if (before !== undefined) return before;
    const settings = parse(parameters);
    const parsed = 'problems' in settings ? settings : { settings, key: keyOf(settings) };
    known.set(parameters, parsed);
    return parsed;
  };
}
