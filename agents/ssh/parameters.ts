import { z } from 'zod';

import type { ParameterProblem, Parameters } from '../../src/ports/agents.ts';
import { canonical, checkParameters, valuesOf, type ParameterSchema } from '../shared/parameter-schema.ts';
import { hostAndPort, sshContradictions, sshDocumentation, sshSettingsOf, sshShape, type SshSettings } from '../shared/ssh/parameters.ts';

const COMMAND_MAX = 4_096;

const command = z
  .string()
  .max(COMMAND_MAX, `must not be longer than ${COMMAND_MAX} characters`)
  .refine((text) => !/[\r\n\0]/.test(text), 'must be one line');

function pattern(text: string): RegExp | undefined {
  try {
    return new RegExp(`^(?:${text})$`);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const schema = z.object({
  ...sshShape,
  command: command.optional(),
  confirm_command: command.optional(),
  confirm_output: z
    .string()
    .max(256, 'must not be longer than 256 characters')
    .refine((text) => pattern(text) !== undefined, 'must be a regular expression')
    .optional(),
});

export const sshParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    ...sshDocumentation,
    command: { description: 'What to run; one line for the shell of the account. It must do no harm when it is run twice.', required: true },
    confirm_command: {
      description: 'What tells that it is done, run after `command` and after a crash: code 0, and `confirm_output` where that is given.',
    },
    confirm_output: { description: 'Regular expression that one whole line of what `confirm_command` prints must match.' },
  },
};

export interface SshCommandSettings {
  ssh: SshSettings;
  command: string;
  confirmCommand: string | undefined;
  confirmOutput: RegExp | undefined;
}

export function sshProblems(parameters: Parameters, withSecrets: boolean): ParameterProblem[] {
  const named = canonical(sshParameters, parameters);
  const problems = [...checkParameters(sshParameters, parameters, withSecrets), ...sshContradictions(named, withSecrets)];
  if (named['confirm_output'] !== undefined && named['confirm_command'] === undefined)
    problems.push({ parameter: 'confirm_output', message: 'is of no use without confirm_command' });
  return problems;
}

/** Typed settings of complete parameters, or the problems in words (without values). */
export function parseSettings(parameters: Parameters): SshCommandSettings | { problems: string[] } {
  const problems = sshProblems(parameters, true).map(({ parameter, message }) => `${parameter} ${message}`);
  if (problems.length > 0) return { problems };
  const value = valuesOf(sshParameters, parameters);
  return {
    ssh: sshSettingsOf(value),
    command: value.command ?? '',
    confirmCommand: value.confirm_command,
    confirmOutput: value.confirm_output === undefined ? undefined : pattern(value.confirm_output),
  };
}

/** `host:port`, the queue key of the machine. */
export function deviceKeyOf(parameters: Parameters): string {
  const named = canonical(sshParameters, parameters);
  return hostAndPort(named['ip'] ?? '', named['ipport'] ?? '22');
}
