import { z } from 'zod';

import type { ParameterProblem, Parameters } from '../../../src/ports/agents.ts';
import { checkParameters, parsed, type ParameterSchema } from '../../shared/parameter-schema.ts';
import { booleanWord } from '../../shared/web/parameters.ts';
import { openstackParameters, openstackProblems } from '../parameters.ts';

/** How long servers of a hypervisor may take to leave it. */
const WAIT_S = 600;
const WAIT_MAX_S = 3_600;

const { system_uuid: _compared, apitimeout: _unused, ...access } = openstackParameters.schema.shape;
const { system_uuid: _ofServers, apitimeout: _ofTheirs, ...accessDocumentation } = openstackParameters.documentation;

const schema = z.object({
  ...access,
  evacuate: booleanWord.default(true),
  wait: z
    .string()
    .regex(/^\d{1,4}$/, 'must be a number of seconds')
    .transform(Number)
    .refine((seconds) => seconds >= 1 && seconds <= WAIT_MAX_S, `must be from 1 to ${WAIT_MAX_S} seconds`)
    .default(WAIT_S),
});

export const serviceDownParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    ...accessDocumentation,
    evacuate: { description: 'Have its servers started on other hypervisors. `no` where something else does, such as Masakari.', default: 'yes' },
    wait: { description: `Seconds within which they have to have left it; at most ${WAIT_MAX_S}.`, default: String(WAIT_S) },
  },
};

const upSchema = z.object(access);
export const serviceUpParameters: ParameterSchema<typeof upSchema> = { schema: upSchema, documentation: accessDocumentation };

const OWN: ReadonlySet<string> = new Set(['evacuate', 'wait']);

/** What the account is made of, without what is done with it. */
export function accessOf(parameters: Parameters): Parameters {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => !OWN.has(name)));
}

function problemsOf<S extends z.ZodObject>(source: ParameterSchema<S>, parameters: Parameters, withSecrets: boolean): ParameterProblem[] {
  const own = checkParameters(source, parameters, withSecrets);
  const known = new Set(own.map(({ parameter }) => parameter));
  const ofAccess = openstackProblems(accessOf(parameters), withSecrets).filter(({ parameter }) => !known.has(parameter));
  return [...own, ...ofAccess];
}

export function serviceDownProblems(parameters: Parameters, withSecrets: boolean): ParameterProblem[] {
  return problemsOf(serviceDownParameters, parameters, withSecrets);
}

export function serviceUpProblems(parameters: Parameters, withSecrets: boolean): ParameterProblem[] {
  return problemsOf(serviceUpParameters, parameters, withSecrets);
}

/** Real time that its servers may take. */
export function waitMsOf(parameters: Parameters): number {
  return (parsed(serviceDownParameters, parameters).data?.wait ?? WAIT_S) * 1_000;
}

/** A host of nova-compute: mostly the name of its Node. */
export function hostProblem(plug: string): string | undefined {
  return /^[\w.-]{0,255}$/.test(plug) ? undefined : 'plug is no name of a host of nova-compute';
}
