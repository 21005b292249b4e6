import type { z } from 'zod';

import type { FirstTrust, ParameterProblem, Parameters } from '../../../src/ports/agents.ts';
import { firstPlaceCertificate, firstPlaceProblems, unresolvedProblems } from '../first-trust/parameters.ts';
import { canonical, parsed, type ParameterSchema } from '../parameter-schema.ts';
import { loginContradictions, trustContradictions, writtenDefaults } from './parameters.ts';
import { HTTPS_PORT, placeText } from './place.ts';
import type { Place } from './trusted-socket.ts';

type PlaceOf = (written: string, defaults: { port: number | undefined; tls: boolean }) => Place | undefined;

/** Parameters of an agent whose device is one server, at `ip` or where its credentials tell, with a user and a password. */
export class OnePlace<S extends z.ZodObject> {
  readonly #agent: string;
  readonly #parameters: ParameterSchema<S>;
  readonly #placeOf: PlaceOf;

  constructor(agent: string, parameters: ParameterSchema<S>, placeOf: PlaceOf) {
    this.#agent = agent;
    this.#parameters = parameters;
    this.#placeOf = placeOf;
  }

  /** What single parameters cannot say: those that contradict each other. */
  contradictions(parameters: Parameters, withSecrets: boolean): ParameterProblem[] {
    const named = canonical(this.#parameters, parameters);
    return [
      ...trustContradictions(named),
      ...firstPlaceProblems(named, this.#writtenPlaces(named), 'ip'),
      ...(withSecrets ? loginContradictions(named) : []),
    ];
  }

  /** Their values, or the problems in words (without values). */
  read(parameters: Parameters): { data: z.output<S> } | { problems: readonly string[] } {
    const result = parsed(this.#parameters, parameters);
    const contradicted = [...this.contradictions(parameters, true), ...unresolvedProblems(canonical(this.#parameters, parameters))].map(
      ({ parameter, message }) => `${parameter} ${message}`,
    );
    const problems = [...(result.error?.issues ?? []).map((issue) => `${String(issue.path[0])} ${issue.message}`), ...contradicted];
    return !result.success || problems.length > 0 ? { problems } : { data: result.data };
  }

  firstTrustOf(parameters: Parameters): FirstTrust | undefined {
    const named = canonical(this.#parameters, parameters);
    return firstPlaceCertificate(named, this.#writtenPlaces(named));
  }

  /** The queue key: one server. Without `ip` it is the one of this process's environment. */
  deviceKeyOf(parameters: Parameters): string {
    const [place] = this.#writtenPlaces(canonical(this.#parameters, parameters));
    return place === undefined ? this.#agent : `${this.#agent} ${placeText(place, HTTPS_PORT)}`;
  }

  /** None where another source tells it. */
  #writtenPlaces(named: Readonly<Record<string, string>>): Place[] {
    const place = this.#placeOf(named['ip'] ?? '', writtenDefaults(named));
    return place === undefined ? [] : [place];
  }
}
