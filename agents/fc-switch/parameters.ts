import { z } from 'zod';

import type { FirstTrust, ParameterProblem, Parameters } from '../../src/ports/agents.ts';
import {
  firstCertificate,
  firstHostKey,
  firstTrustDocumentation,
  firstTrustProblems,
  firstTrustShape,
  TLS_PINS,
} from '../shared/first-trust/parameters.ts';
import { BOOT_TIME, bootTime } from '../shared/boot-time.ts';
import { portAliasDocumentation } from '../shared/interfaces/port-identity.ts';
import { canonical, checkParameters, parseBoolean, parsed, valuesOf, type ParameterSchema } from '../shared/parameter-schema.ts';
import { snmpDeviceKey, snmpDocumentation, snmpProblems, snmpSettings, snmpShape } from '../shared/snmp/parameters.ts';
import type { SnmpSettings } from '../shared/snmp/settings.ts';
import { hostAndPort, sshContradictions, sshDocumentation, sshHostOf, sshSettingsOf, sshShape, type SshSettings } from '../shared/ssh/parameters.ts';
import { booleanWord, trustDocumentation, trustOf, trustShape } from '../shared/web/parameters.ts';
import type { Trust } from '../shared/web/trusted-socket.ts';
import { NO_PORT } from '../shared/interfaces/port-identity.ts';
import { brocadePort, mdsPort } from './ports.ts';

const TRANSPORTS = ['ssh', 'rest', 'snmp', 'nxapi'] as const;
type Transport = (typeof TRANSPORTS)[number];

const own = {
  transport: z.enum(TRANSPORTS, `must be one of ${TRANSPORTS.join(', ')}`).default('ssh'),
  port_alias: z.string().optional(),
  vf_id: z
    .string()
    .regex(/^\d{1,3}$/, 'must be a number from 1 to 128')
    .transform(Number)
    .refine((id) => id >= 1 && id <= 128, 'must be a number from 1 to 128')
    .optional(),
  ssl: booleanWord.default(true),
  bmc_boot_time: bootTime,
  ...trustShape,
  ...firstTrustShape,
};
const schema = z.object({ ...own, ...snmpShape, ...sshShape });
const snmpSchema = z.object(snmpShape);
const sshSchema = z.object(sshShape);

export const fcSwitchParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    ...snmpDocumentation,
    ...sshDocumentation,
    transport: {
      description: '`ssh` (Brocade Fabric OS), `rest` (Brocade, Fabric OS 8.2 and later), `snmp` or `nxapi` (both Cisco MDS).',
      default: 'ssh',
    },
    port_alias: portAliasDocumentation,
    vf_id: { description: 'Virtual fabric of the port (Brocade), 1 to 128.', aliases: ['fid'] },
    ipport: { description: 'Port of the protocol.', default: '22, 443, 161 by the transport', aliases: ['udpport'] },
    username: { description: 'Login name; user of SNMP 3.', fromSecret: true, aliases: ['login'] },
    password: { description: 'Password; authentication password of SNMP 3.', fromSecret: true, secret: true, aliases: ['passwd'] },
    ssl: { description: 'TLS, for `rest` and `nxapi`.', default: 'yes' },
    bmc_boot_time: {
      ...BOOT_TIME,
      description:
        'No start of the switch takes longer than these seconds. One that restarts while a closed port is proven, or has just started, may show it closed by default: that counts once the port has shown open, or for so long closed. Over SNMP only.',
      aliases: ['device_boot_time'],
    },
    ...trustDocumentation('switch', 'port'),
    ...firstTrustDocumentation,
  },
};

/** Where a switch answers HTTP, how it is trusted and who we are to it. */
export type WebSettings = Trust & { host: string; port: number; tls: boolean; username: string; password: string };

export type FcSwitchSettings = { portAlias: string | undefined; virtualFabric: number | undefined } & (
  | { transport: 'ssh'; ssh: SshSettings }
  | { transport: 'snmp'; bootMaxMs: number; snmp: SnmpSettings }
  | { transport: 'rest' | 'nxapi'; web: WebSettings }
);

const ofSnmp = { schema: snmpSchema, documentation: fcSwitchParameters.documentation };
const ofSsh = { schema: sshSchema, documentation: fcSwitchParameters.documentation };

/** Problems of what was written; those of single parameters first. */
export function fcSwitchProblems(parameters: Parameters, withSecrets: boolean): ParameterProblem[] {
  const named = canonical(fcSwitchParameters, parameters);
  const problems = checkParameters(fcSwitchParameters, parameters, withSecrets);
  if (problems.length > 0) return problems;
  const transport = transportOf(named);
  if (transport === 'snmp') {
    const result = parsed(ofSnmp, parameters);
    const issues = (result.error?.issues ?? []).map(({ path, message }) => ({ parameter: String(path[0] ?? ''), message }));
    return result.success ? snmpProblems(result.data, withSecrets) : issues;
  }
  if (withSecrets && named['username'] === undefined) problems.push({ parameter: 'username', message: 'is missing' });
  if (transport === 'ssh') return [...problems, ...sshContradictions(named, withSecrets)];
  if (withSecrets && named['password'] === undefined) problems.push({ parameter: 'password', message: 'is missing' });
  const isInsecure = named['ssl_insecure'] !== undefined && parseBoolean(named['ssl_insecure']) === true;
  if (isInsecure && (named['ca'] !== undefined || named['ssl_fingerprint'] !== undefined))
    problems.push({ parameter: 'ssl_insecure', message: 'trusts any certificate, but ca or ssl_fingerprint is given too: remove one' });
  return [...problems, ...firstTrustProblems(named, TLS_PINS)];
}

/** What the switch shows first, by the protocol in use. SNMP has nothing of the kind. */
export function firstTrustOf(parameters: Parameters): FirstTrust | undefined {
  const named = canonical(fcSwitchParameters, parameters);
  const transport = transportOf(named);
  if (transport === 'snmp') return undefined;
  return (transport === 'ssh' ? firstHostKey : firstCertificate)(named, deviceKeyOf(parameters));
}

/** Typed settings of complete parameters, or the problems in words (without values). */
export function parseSettings(parameters: Parameters): FcSwitchSettings | { problems: string[] } {
  const problems = fcSwitchProblems(parameters, true).map(({ parameter, message }) => `${parameter} ${message}`);
  if (problems.length > 0) return { problems };
  const value = valuesOf(fcSwitchParameters, parameters);
  const common = { portAlias: value.port_alias, virtualFabric: value.vf_id };
  if (value.transport === 'ssh') return { ...common, transport: 'ssh', ssh: sshSettingsOf(valuesOf(ofSsh, parameters)) };
  if (value.transport === 'snmp')
    return { ...common, transport: 'snmp', bootMaxMs: value.bmc_boot_time * 1_000, snmp: snmpSettings(valuesOf(ofSnmp, parameters)) };
  const web: WebSettings = {
    host: sshHostOf(value.ip ?? ''),
    port: value.ipport ?? (value.ssl ? 443 : 80),
    tls: value.ssl,
    ...trustOf(value),
    username: value.username ?? '',
    password: value.password ?? '',
  };
  return { ...common, transport: value.transport, web };
}

/** `host:port` of the protocol in use, the queue key of the switch. */
export function deviceKeyOf(parameters: Parameters): string {
  const named = canonical(fcSwitchParameters, parameters);
  const transport = transportOf(named);
  if (transport === 'snmp') return snmpDeviceKey(named);
  const isPlain = named['ssl'] !== undefined && parseBoolean(named['ssl']) === false;
  return hostAndPort(named['ip'] ?? '', named['ipport'] ?? (transport === 'ssh' ? '22' : isPlain ? '80' : '443'));
}

function transportOf(named: Readonly<Record<string, string>>): Transport {
  return TRANSPORTS.find((transport) => transport === named['transport']) ?? 'ssh';
}

/** Why no call for this port would be begun. */
export function portProblem(plug: string, parameters: Parameters): string | undefined {
  if (plug === '') return NO_PORT;
  const transport = transportOf(canonical(fcSwitchParameters, parameters));
  if (transport === 'snmp') return undefined;
  return transport === 'nxapi' ? mdsPort(plug) : brocadePort(plug);
}
