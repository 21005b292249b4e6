import { z } from 'zod';

import type { ParameterProblem, Parameters } from '../../src/ports/agents.ts';
import { firstTrustDocumentation, firstTrustShape } from '../shared/first-trust/parameters.ts';
import type { NameKind } from '../shared/interfaces/if-mib.ts';
import { portAliasDocumentation } from '../shared/interfaces/port-identity.ts';
import { BOOT_TIME, bootTime } from '../shared/boot-time.ts';
import { canonical, checkParameters, parsed, valuesOf, type ParameterSchema } from '../shared/parameter-schema.ts';
import { snmpDeviceKey, snmpDocumentation, snmpProblems, snmpSettings, snmpShape } from '../shared/snmp/parameters.ts';
import type { SnmpSettings } from '../shared/snmp/settings.ts';
import { hostAndPort, sshContradictions, sshDocumentation, sshSettingsOf, sshShape, type SshSettings } from '../shared/ssh/parameters.ts';
import { DIALECTS, type DialectName } from './dialects.ts';

const TRANSPORTS = ['snmp', 'ssh'] as const;
const FIND_BY = ['any', 'ifname', 'ifdescr', 'ifalias'] as const satisfies readonly NameKind[];
const NAMES = Object.keys(DIALECTS) as DialectName[];

const own = {
  transport: z.enum(TRANSPORTS, `must be one of ${TRANSPORTS.join(', ')}`).default('snmp'),
  dialect: z.enum(NAMES, `must be one of ${NAMES.join(', ')}`).optional(),
  find_by: z.enum(FIND_BY, `must be one of ${FIND_BY.join(', ')}`).default('any'),
  port_alias: z.string().optional(),
  enable_password: z.string().optional(),
  bmc_boot_time: bootTime,
  ...firstTrustShape,
};
const schema = z.object({ ...own, ...snmpShape, ...sshShape });
const snmpSchema = z.object(snmpShape);
const sshSchema = z.object(sshShape);

export const switchParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    ...snmpDocumentation,
    ...sshDocumentation,
    ...firstTrustDocumentation,
    transport: { description: '`snmp` (IF-MIB) or `ssh` (command line).', default: 'snmp' },
    dialect: { description: `Command line of the switch: ${NAMES.map((name) => `\`${name}\``).join(', ')}. Needed for SSH.` },
    find_by: {
      description: 'What `plug` is over SNMP: `ifname`, `ifdescr`, `ifalias`, or `any`: the ifName, else the ifDescr.',
      default: 'any',
    },
    port_alias: portAliasDocumentation,
    enable_password: { description: 'Second password of Cisco-like switches, typed after `enable`.', secret: true, fromSecret: true },
    bmc_boot_time: {
      ...BOOT_TIME,
      description:
        'No start of the switch takes longer than these seconds. One that restarts while a closed port is proven, or has just started, may show it closed by default: that counts once the port has shown open, or for so long closed. Over SNMP only.',
      aliases: ['device_boot_time'],
    },
    ipport: { description: 'UDP port of SNMP, TCP port of SSH.', default: '161, 22 for SSH', aliases: ['udpport'] },
    username: { description: 'Login name of SSH, user of SNMP 3.', fromSecret: true, aliases: ['login'] },
    password: { description: 'Password of SSH, authentication password of SNMP 3.', fromSecret: true, secret: true, aliases: ['passwd'] },
  },
};

export type SwitchSettings = { portAlias: string | undefined } & (
  | { transport: 'snmp'; findBy: NameKind; bootMaxMs: number; snmp: SnmpSettings }
  | { transport: 'ssh'; dialect: DialectName; enablePassword: string | undefined; ssh: SshSettings }
);

const ofSnmp = { schema: snmpSchema, documentation: switchParameters.documentation };
const ofSsh = { schema: sshSchema, documentation: switchParameters.documentation };

/** Problems of what was written; those of single parameters first. */
export function switchProblems(parameters: Parameters, withSecrets: boolean): ParameterProblem[] {
  const named = canonical(switchParameters, parameters);
  const problems = checkParameters(switchParameters, parameters, withSecrets);
  if (problems.length > 0) return problems;
  if (named['transport'] !== 'ssh') {
    const result = parsed(ofSnmp, parameters);
    const issues = (result.error?.issues ?? []).map(({ path, message }) => ({ parameter: String(path[0] ?? ''), message }));
    return result.success ? snmpProblems(result.data, withSecrets) : issues;
  }
  if (named['dialect'] === undefined) problems.push({ parameter: 'dialect', message: `is missing: one of ${NAMES.join(', ')}` });
  if (withSecrets && named['username'] === undefined) problems.push({ parameter: 'username', message: 'is missing: SSH needs one' });
  return [...problems, ...sshContradictions(named, withSecrets)];
}

/** Typed settings of complete parameters, or the problems in words (without values). */
export function parseSettings(parameters: Parameters): SwitchSettings | { problems: string[] } {
  const problems = switchProblems(parameters, true).map(({ parameter, message }) => `${parameter} ${message}`);
  if (problems.length > 0) return { problems };
  const value = valuesOf(switchParameters, parameters);
  const portAlias = value.port_alias;
  if (value.transport === 'snmp') {
    const bootMaxMs = value.bmc_boot_time * 1_000;
    return { transport: 'snmp', portAlias, findBy: value.find_by, bootMaxMs, snmp: snmpSettings(valuesOf(ofSnmp, parameters)) };
  }
  return {
    transport: 'ssh',
    portAlias,
    dialect: value.dialect ?? 'ios',
    enablePassword: value.enable_password,
    ssh: sshSettingsOf(valuesOf(ofSsh, parameters)),
  };
}

/** `host:port` of the protocol in use, the queue key of the switch. */
export function deviceKeyOf(parameters: Parameters): string {
  const named = canonical(switchParameters, parameters);
  return named['transport'] === 'ssh' ? hostAndPort(named['ip'] ?? '', named['ipport'] ?? '22') : snmpDeviceKey(named);
}
