import { z } from 'zod';

import type { ParameterProblem, Parameters } from '../../src/ports/agents.ts';
import { placeDocumentation, placeOf, placeProblems, placeShape } from '../shared/command/place.ts';
import { unresolvedProblems } from '../shared/first-trust/parameters.ts';
import { canonical, checkParameters, parsed, type ParameterSchema } from '../shared/parameter-schema.ts';
import type { SshSettings } from '../shared/ssh/parameters.ts';
import { lineProblem, argumentsOf } from './template.ts';

const command = z.string().superRefine((text, context) => {
  const words = argumentsOf(text);
  if (typeof words === 'string') context.addIssue({ code: 'custom', message: words });
});

const line = z.string().superRefine((text, context) => {
  const problem = lineProblem(text);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

const schema = z.object({
  close_command: command.optional(),
  open_command: command.optional(),
  state_command: command.optional(),
  closed_match: line.optional(),
  open_match: line.optional(),
  client: z.string().optional(),
  target: z.string().optional(),
  ...placeShape,
});

export const storageParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    close_command: {
      description:
        'Shuts the node out. Without `ip` its first word is a program of the controller’s folder of programs. Words separated by blanks, `"` around those that hold some; no shell reads them here.',
      required: true,
    },
    open_command: { description: 'Lets it in again; without it nothing is ever opened.' },
    state_command: { description: 'Shows how it is, from the side of the storage; has to end with exit code 0.', required: true },
    closed_match: {
      description: 'A line of the output when the node is shut out: word for word, or `/a regular expression/` for the whole line.',
      required: true,
    },
    open_match: {
      description: 'A line of the output while the node is let in; it wins. With a `closed_match` that is always there, its absence means closed.',
      required: true,
    },
    client: {
      description: 'What `%client%` is replaced by: address, initiator or host name of the node as the storage knows it.',
      aliases: ['initiator'],
    },
    target: { description: 'What `%target%` stands for: an export, a LUN, a target.', aliases: ['export', 'lun', 'volume'] },
    ...placeDocumentation,
  },
};

export interface StorageSettings {
  close: string;
  open: string | undefined;
  state: string;
  closedMatch: string;
  openMatch: string;
  client: string | undefined;
  target: string | undefined;
  place: SshSettings | undefined;
}

export function parseSettings(parameters: Parameters): StorageSettings | { problems: string[] } {
  const problems = [...problemsOf(parameters, true), ...unresolvedProblems(canonical(storageParameters, parameters))];
  const result = parsed(storageParameters, parameters);
  if (problems.length > 0 || !result.success) return { problems: problems.map(({ parameter, message }) => `${parameter} ${message}`) };
  const value = result.data;
  return {
    close: value.close_command ?? '',
    open: value.open_command,
    state: value.state_command ?? '',
    closedMatch: value.closed_match ?? '',
    openMatch: value.open_match ?? '',
    client: value.client,
    target: value.target,
    place: placeOf(value),
  };
}

export function problemsOf(parameters: Parameters, withSecrets: boolean): ParameterProblem[] {
  const named = canonical(storageParameters, parameters);
  const isSame = named['closed_match'] !== undefined && named['closed_match'] === named['open_match'];
  return [
    ...checkParameters(storageParameters, parameters, withSecrets),
    ...(isSame ? [{ parameter: 'open_match', message: 'is the same as closed_match' }] : []),
    ...placeProblems(named, withSecrets),
  ];
}
