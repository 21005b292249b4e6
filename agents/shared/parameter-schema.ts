import type { z } from 'zod';

import type { ParameterDescription, ParameterProblem, Parameters } from '../../src/ports/agents.ts';
import { lookup } from '../../src/domain/lookup.ts';

/** What the documentation and the alias table say of one parameter, beside its schema. */
export interface Documentation {
  description: string;
  aliases?: readonly string[];
  secret?: boolean;
  /** Must be there; a parameter that may come from a Secret need not be while Secrets are not at hand. */
  required?: boolean;
  fromSecret?: boolean;
  /** As documented; the schema applies it. */
  default?: string;
}

/** One source for checking, parsing and documenting the parameters of an agent. */
export interface ParameterSchema<S extends z.ZodObject> {
  schema: S;
  documentation: Readonly<Record<keyof S['shape'] & string, Documentation>>;
}

const BOOLEANS: Readonly<Record<string, boolean>> = { 1: true, yes: true, true: true, on: true, 0: false, no: false, false: false, off: false };

/** Reads a boolean as the ClusterLabs library does; `undefined` for any other word, so that `0` can never mean yes. */
export function parseBoolean(text: string): boolean | undefined {
  return lookup(BOOLEANS, text.trim().toLowerCase());
}

/** All that the names of parameters follow from. */
interface Documented {
  documentation: Readonly<Record<string, Documentation>>;
}

function entriesOf(source: Documented): [string, Documentation][] {
  return Object.entries(source.documentation);
}

/** All spellings of each parameter, the canonical one first: drawn up once for each documentation. */
const SPELLINGS = new WeakMap<Documented['documentation'], readonly (readonly [string, ...string[]])[]>();

function spellingsOf(source: Documented): readonly (readonly [string, ...string[]])[] {
  const known = SPELLINGS.get(source.documentation);
  if (known !== undefined) return known;
  const spellings = entriesOf(source).map(([name, { aliases = [] }]) => [name, ...aliases] as const);
  SPELLINGS.set(source.documentation, spellings);
  return spellings;
}

/** Canonical names only: aliases renamed (the canonical name wins), empty values and unknown keys left out. */
export function canonical(source: Documented, parameters: Parameters): Record<string, string> {
  const result: Record<string, string> = {};
  for (const spellings of spellingsOf(source)) {
    for (const spelling of spellings) {
      const value = parameters[spelling];
      if (value === undefined || value === '') continue;
      result[spellings[0]] = value;
      break;
    }
  }
  return result;
}

/** What was parsed of each object of parameters, by schema: for as long as the object lives. */
const PARSED = new WeakMap<Parameters, Map<z.ZodObject, unknown>>();

/**
 * Parses canonical parameters, once: a run hands the same object to the check and to each call of its agent. A schema beside that of the agent may take
 * its documentation, where one parameter decides what the others mean.
 */
export function parsed<S extends z.ZodObject>(source: Documented & { schema: S }, parameters: Parameters): z.ZodSafeParseResult<z.output<S>> {
  const { schema } = source;
  const results = PARSED.get(parameters) ?? new Map<z.ZodObject, unknown>();
  PARSED.set(parameters, results);
  const result = (results.get(schema) as z.ZodSafeParseResult<z.output<S>> | undefined) ?? schema.safeParse(canonical(source, parameters));
  results.set(schema, result);
  return result;
}

/** The values of parameters that were checked before; throws where the check let something through. */
export function valuesOf<S extends z.ZodObject>(source: Documented & { schema: S }, parameters: Parameters): z.output<S> {
  const result = parsed(source, parameters);
  if (!result.success) throw result.error;
  return result.data;
}

export function describeParameters<S extends z.ZodObject>(source: ParameterSchema<S>): ParameterDescription[] {
  return entriesOf(source).map(([name, documentation]) => ({
    name,
    required: documentation.required ?? false,
    secret: documentation.secret ?? false,
    description: documentation.description,
    ...(documentation.default === undefined ? {} : { default: documentation.default }),
    ...(documentation.aliases === undefined ? {} : { aliases: documentation.aliases }),
  }));
}

/** Problems of canonical parameters: what is missing first, then what the schema says. Values are never quoted, a secret may be among them. */
export function checkParameters<S extends z.ZodObject>(source: ParameterSchema<S>, parameters: Parameters, withSecrets: boolean): ParameterProblem[] {
  const named = canonical(source, parameters);
  const problems: ParameterProblem[] = [];
  for (const [name, documentation] of entriesOf(source)) {
    if (documentation.required !== true || named[name] !== undefined) continue;
    if (!withSecrets && documentation.fromSecret === true) continue;
    problems.push({ parameter: name, message: `is missing: ${documentation.description}` });
  }
  for (const issue of parsed(source, parameters).error?.issues ?? []) {
    problems.push({ parameter: String(issue.path[0] ?? ''), message: issue.message });
  }
  return problems;
}
