import { z } from 'zod';

import { DEVICES_MAX, isDevicePath, plainKey } from '../../src/domain/scsi-registration.ts';
import type { ParameterProblem, Parameters } from '../../src/ports/agents.ts';
import { placeDocumentation, placeOf, placeProblems, placeShape } from '../shared/command/place.ts';
import { unresolvedProblems } from '../shared/first-trust/parameters.ts';
import { canonical, checkParameters, parseBoolean, parsed, type ParameterSchema } from '../shared/parameter-schema.ts';
import type { SshSettings } from '../shared/ssh/parameters.ts';

const PROGRAM = /^\/[A-Za-z0-9_./-]+$/;

const schema = z.object({
  devices: z
    .string()
    .transform((text) => text.split(/[\s,]+/).filter((word) => word !== ''))
    .refine((all) => all.length > 0 && all.every(isDevicePath), 'must be devices such as /dev/disk/by-id/wwn-0x5000c500')
    .refine((all) => all.length <= DEVICES_MAX, `must be at most ${DEVICES_MAX} devices`)
    .optional(),
  key: z
    .string()
    .regex(/^(0x)?[0-9a-fA-F]{1,16}$/, 'must be a registration key, up to 16 hexadecimal digits')
    .refine((text) => plainKey(text) !== '0', 'must not be zero')
    .optional(),
  multipath: z.enum(['yes', 'no'], 'must be yes or no').default('no'),
  sudo: z.enum(['yes', 'no'], 'must be yes or no').default('no'),
  fence_path: z.string().regex(PROGRAM, 'must be the path of a program').optional(),
  persist_path: z.string().regex(PROGRAM, 'must be the path of a program').optional(),
  ...placeShape,
});

export const scsiParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    devices: { description: 'Every shared device, as the healthy host names it; separated by blanks or commas.', required: true },
    key: { description: 'Registration key of the node that is to be shut out.', required: true },
    multipath: {
      description: 'The devices are multipath maps: `fence_mpath` and `mpathpersist` instead of `fence_scsi` and `sg_persist`.',
      default: 'no',
    },
    sudo: { description: 'Put `sudo -n` before each command.', default: 'no' },
    fence_path: { description: 'The fence agent on that host.', default: '/usr/sbin/fence_scsi, /usr/sbin/fence_mpath' },
    persist_path: { description: 'What reads the reservations there.', default: '/usr/bin/sg_persist, /sbin/mpathpersist' },
    ...placeDocumentation,
    ip: {
      description: 'A healthy host with a registration on the same devices; never the node itself.',
      required: true,
      aliases: ['ipaddr', 'host', 'address'],
    },
    username: { ...placeDocumentation.username, required: true },
  },
};

export interface ScsiSettings {
  devices: readonly string[];
  /** Without `0x` and leading zeros. */
  key: string;
  isMultipath: boolean;
  /** Words before each command. */
  before: readonly string[];
  fencePath: string;
  persistPath: string;
  place: SshSettings;
}

export function problemsOf(parameters: Parameters, withSecrets: boolean): ParameterProblem[] {
  const named = canonical(scsiParameters, withBooleans(parameters));
  const own = checkParameters(scsiParameters, withBooleans(parameters), withSecrets);
  return [...own, ...placeProblems(named, withSecrets).filter(({ parameter }) => !own.some((problem) => problem.parameter === parameter))];
}

/** The same parameters with plain booleans, by what was written: as long-lived as that. */
const PLAIN = new WeakMap<Parameters, Parameters>();

/** Booleans in any of their spellings. */
function withBooleans(parameters: Parameters): Parameters {
  const known = PLAIN.get(parameters);
  if (known !== undefined) return known;
  const plain = (name: string): Parameters => {
    const value = parseBoolean(parameters[name] ?? '');
    return value === undefined ? {} : { [name]: value ? 'yes' : 'no' };
  };
  const written = { ...parameters, ...plain('multipath'), ...plain('sudo') };
  PLAIN.set(parameters, written);
  return written;
}

export function parseSettings(parameters: Parameters): ScsiSettings | { problems: string[] } {
  const problems = [...problemsOf(parameters, true), ...unresolvedProblems(canonical(scsiParameters, parameters))];
  const result = parsed(scsiParameters, withBooleans(parameters));
  const place = result.success ? placeOf(result.data) : undefined;
  if (problems.length > 0 || !result.success || place === undefined)
    return { problems: problems.map(({ parameter, message }) => `${parameter} ${message}`) };
  const value = result.data;
  const isMultipath = value.multipath === 'yes';
  return {
    devices: value.devices ?? [],
    key: plainKey(value.key ?? ''),
    isMultipath,
    before: value.sudo === 'yes' ? ['sudo', '-n'] : [],
    fencePath: value.fence_path ?? (isMultipath ? '/usr/sbin/fence_mpath' : '/usr/sbin/fence_scsi'),
    persistPath: value.persist_path ?? (isMultipath ? '/sbin/mpathpersist' : '/usr/bin/sg_persist'),
    place,
  };
}
