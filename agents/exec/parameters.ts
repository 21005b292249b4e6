import type { ParameterDescription, ParameterProblem, Parameters } from '../../src/ports/agents.ts';
import { parseBoolean } from '../shared/parameter-schema.ts';
import { ProgramFolder } from '../shared/process/program-folder.ts';
import type { FenceProgram } from './catalogue.ts';
import { knownFaults } from './known-faults.ts';
import { localProblem } from './local-files.ts';
import type { FenceMetadata, FenceParameter } from './metadata.ts';
import { lookup } from '../../src/domain/lookup.ts';

/** Our own parameter of every such agent. */
const ACCEPT = 'accept_known_faults';
const STATUS_BY = 'status_by';

/** Never passed on: the call's own, or the library's for people. */
const OURS: ReadonlySet<string> = new Set([
  ...[
    'action',
    'option',
    'plug',
    'port',
    'nodename',
    'help',
    'version',
    'usage',
    'quiet',
    'verbose',
    'verbose_level',
    'debug_file',
    'debug',
    'logfile',
  ],
  ...['separator', 'plug_separator', 'retry_on', 'delay', 'port_as_ip', 'random_sleep_range', 'record_only'],
]);

/** What would make an off untrue or late, or a secret visible; each with the reason. */
const REFUSED: Readonly<Record<string, string>> = {
  missing_as_off: 'would call a machine off that was not found: remove the line',
  disable_timeout: 'is not for us to use: every call has a deadline of its own; remove the line',
  password_script: 'is a command of its own: put the password into a Secret',
  snmp_priv_passwd_script: 'is a command of its own: put the password into a Secret',
  suppress_errors: 'would hide what the device says: remove the line',
  network_fencing: 'cuts the network and leaves the machine running: remove the line',
  warntimeout: 'would let an off succeed that was not read back: remove the line',
  runonfail: 'runs a command of its own: remove the line',
  runonwarn: 'runs a command of its own: remove the line',
};

const SECRET = /(?:passw|passphrase|secret|token$|community|api_?key|hexadecimal_kg|^access_key$)/;
const FROM_SECRET = /^(?:username|login|identity_file|email)$/;
const WORD = /^\P{Cc}*$/u;
const VALUE_MAX = 4_096;

export function isSecret(name: string): boolean {
  return SECRET.test(name) && lookup(REFUSED, name) === undefined;
}

/** Parameters that are passed on or refused, by their newest names. */
function offered({ parameters }: FenceMetadata): FenceParameter[] {
  return [...parameters.values()].filter(({ name }) => !OURS.has(name));
}

export function describeProgram({ name, metadata }: FenceProgram): ParameterDescription[] {
  const own = metadata === undefined ? [] : offered(metadata);
  return [
    ...(metadata === undefined ? USUAL : []),
    ...own.map((parameter) => ({
      name: parameter.name,
      required: parameter.required && parameter.default === undefined,
      secret: isSecret(parameter.name),
      description: lookup(REFUSED, parameter.name) === undefined ? parameter.description : `Refused: ${lookup(REFUSED, parameter.name) ?? ''}`,
      ...(parameter.default === undefined ? {} : { default: parameter.default }),
      ...(parameter.aliases.length === 0 ? {} : { aliases: parameter.aliases }),
    })),
    {
      name: ACCEPT,
      required: false,
      secret: false,
      description: `Use ${name} although faults of it are known that can make an off untrue, or show a secret.`,
      default: 'no',
    },
    {
      name: STATUS_BY,
      required: false,
      secret: false,
      description:
        '`words`: exit code and `Status: ON` or `Status: OFF` have to agree. `code`: the exit code alone, for an agent that prints nothing; off only while it does.',
      default: 'words',
    },
  ];
}

/** What nearly all of them take, for one that was not asked. */
const USUAL: readonly ParameterDescription[] = [
  { name: 'ip', required: false, secret: false, description: 'Address.', aliases: ['ipaddr'] },
  { name: 'ipport', required: false, secret: false, description: 'Port.' },
  { name: 'username', required: false, secret: false, description: 'Login name.', aliases: ['login'] },
  { name: 'password', required: false, secret: true, description: 'Password.', aliases: ['passwd'] },
  ...['community', 'snmp_priv_passwd', 'secret_key', 'access_key', 'token', 'apikey', 'hexadecimal_kg'].map((name) => ({
    name,
    required: false,
    secret: true,
    description: 'Secret.',
  })),
];

/** Canonical names only; empty values and what is not offered left out. */
export function canonicalParameters(metadata: FenceMetadata, parameters: Parameters): Record<string, string> {
  const result: Record<string, string> = {};
  for (const { name, aliases } of [...offered(metadata), ...[ACCEPT, STATUS_BY].map((own) => ({ name: own, aliases: [] }))]) {
    const value = [name, ...aliases].map((spelling) => parameters[spelling]).find((written) => written !== undefined && written !== '');
    if (value !== undefined) result[name] = value;
  }
  return result;
}

export function believesCode(parameters: Parameters): boolean {
  return parameters[STATUS_BY]?.trim().toLowerCase() === 'code';
}

/** Problems of a program with these parameters; values are never quoted. */
export function checkProgram(
  { name, metadata, refusal, unasked }: FenceProgram,
  parameters: Parameters,
  withSecrets: boolean,
  programs: ProgramFolder = new ProgramFolder(),
): ParameterProblem[] {
  if (refusal !== undefined) return [{ parameter: 'agent_name', message: `cannot run: ${refusal}` }];
  if (unasked !== undefined) return [];
  if (metadata === undefined)
    return [
      { parameter: 'agent_name', message: `${name} printed no metadata within 5 s that can be read: it is no fence agent, or lacks a library` },
    ];
  const missing = ['status', 'off', 'on'].filter((action) => !metadata.actions.has(action));
  if (missing.length > 0)
    return [{ parameter: 'agent_name', message: `${name} has no ${missing.join(' and no ')}: what it did could not be read back` }];
  const named = canonicalParameters(metadata, parameters);
  const problems = offered(metadata).flatMap((parameter) => problemsOf(name, parameter, named[parameter.name], withSecrets));
  const local = offered(metadata).flatMap((parameter) => localProblem(metadata, parameter.name, named[parameter.name], programs));
  return [...problems, ...local, ...problemsOfOurs(name, named, parameters)];
}

function problemsOfOurs(program: string, named: Parameters, parameters: Parameters): ParameterProblem[] {
  const problems: ParameterProblem[] = [];
  if (!['words', 'code'].includes(named[STATUS_BY]?.trim().toLowerCase() ?? 'words'))
    problems.push({ parameter: STATUS_BY, message: 'must be words or code' });
  const accepted = parseBoolean(named[ACCEPT] ?? 'no');
  if (accepted === undefined) problems.push({ parameter: ACCEPT, message: 'must be yes or no' });
  const { off, secrets } = knownFaults(program);
  // With the path given, fence_redfish has nothing to choose from.
  const isMended = program === 'fence_redfish' && named['systems_uri'] !== undefined;
  const faults = [isMended ? undefined : off, secrets].filter((fault) => fault !== undefined);
  if (faults.length > 0 && accepted !== true)
    problems.push({
      parameter: 'agent_name',
      message: `${program} cannot be trusted: ${faults.join('; ')}. Name an agent of our own, or write ${ACCEPT}=yes`,
    });
  if (parameters['method']?.trim().toLowerCase() === 'cycle')
    problems.push({ parameter: 'method', message: 'must be onoff: a cycle inside the device gives no evidence of off' });
  return problems;
}

function problemsOf(program: string, parameter: FenceParameter, value: string | undefined, withSecrets: boolean): ParameterProblem[] {
  const { name, type, options } = parameter;
  const problem = (message: string): ParameterProblem[] => [{ parameter: name, message }];
  if (value === undefined) {
    const mayFollow = isSecret(name) || FROM_SECRET.test(name);
    const isNeeded = parameter.required && parameter.default === undefined && (withSecrets || !mayFollow);
    return isNeeded ? problem(`is missing: ${parameter.description}`) : [];
  }
  const refused = lookup(REFUSED, name);
  if (refused !== undefined) return type === 'boolean' && parseBoolean(value) === false ? [] : problem(refused);
  if (value.length > VALUE_MAX || !WORD.test(value)) return problem(`must be one line of at most ${VALUE_MAX} characters`);
  if (type === 'boolean') return booleanProblems(program, parameter, value);
  if ((type === 'integer' || type === 'second') && !/^[+-]?\d{1,9}$/.test(value.trim())) return problem('must be a whole number');
  const isChoice = options.length === 0 || options.some((option) => option.toLowerCase() === value.trim().toLowerCase());
  return isChoice ? [] : problem(`must be one of ${options.join(', ')}`);
}

/** Agents ask whether a boolean was given, not what it says: a no can only be left out, which leaves a default of yes standing. */
function booleanProblems(program: string, { name, default: usual }: FenceParameter, value: string): ParameterProblem[] {
  const wanted = parseBoolean(value);
  if (wanted === undefined) return [{ parameter: name, message: 'must be yes or no (also true, false, on, off, 1, 0)' }];
  if (wanted || parseBoolean(usual ?? 'no') !== true) return [];
  return [{ parameter: name, message: `cannot be no: ${program} takes it for given, and any value for a yes` }];
}
