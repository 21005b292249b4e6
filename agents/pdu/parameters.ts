import { createHash } from 'node:crypto';

import { z } from 'zod';

import type { ParameterProblem, Parameters } from '../../src/ports/agents.ts';
import { BOOT_TIME, bootTime } from '../shared/boot-time.ts';
import { canonical, checkParameters, parseBoolean, parsed, type ParameterSchema } from '../shared/parameter-schema.ts';
import { snmpDeviceKey, snmpDocumentation, snmpProblems, snmpSettings, snmpShape } from '../shared/snmp/parameters.ts';
import type { SnmpSettings } from '../shared/snmp/settings.ts';
import { FAMILIES } from './families.ts';

const NAMES = FAMILIES.map(({ name }) => name);

const schema = z.object({
  ...snmpShape,
  family: z
    .string()
    .transform((text) => text.trim().toLowerCase())
    .pipe(z.enum(NAMES, `must be one of ${NAMES.join(', ')}`))
    .optional(),
  switch: z
    .string()
    .regex(/^\d{1,5}$/, 'must be a number')
    .transform(Number)
    .optional(),
  outlet_name: z.string().max(200).optional(),
  current_witness: z
    .string()
    .transform((text, context) => {
      const value = parseBoolean(text);
      if (value === undefined) context.addIssue({ code: 'custom', message: 'must be yes or no (also true, false, on, off, 1, 0)' });
      return value ?? true;
    })
    .default(true),
  off_current_max_ma: z
    .string()
    .regex(/^\d{1,4}$/, 'must be a number of milliamperes')
    .transform(Number)
    .default(50),
  bmc_boot_time: bootTime,
});

export const pduParameters: ParameterSchema<typeof schema> = {
  schema,
  documentation: {
    ...snmpDocumentation,
    family: { description: `Kind of PDU, where its sysObjectID does not tell: ${NAMES.join(', ')}.`, default: 'by sysObjectID' },
    switch: { description: 'Unit (or bank) of the outlet, as ClusterLabs agents have it; the plug may say the same: `2/3`.' },
    outlet_name: {
      description: "Identity: the name that the outlet must have on the device, with `{node}` for the node's name. Another name is refused.",
      aliases: ['outlet-name'],
    },
    current_witness: {
      description:
        'Where the outlet is metered: an off counts only while its current is about 0. Without it an off is believed that the outlet only says of itself.',
      default: 'yes',
      aliases: ['current-witness'],
    },
    off_current_max_ma: { description: 'The most milliamperes that count as about 0.', default: '50', aliases: ['off-current-max-ma'] },
    bmc_boot_time: { ...BOOT_TIME, aliases: ['device_boot_time'] },
  },
};

export interface PduSettings {
  snmp: SnmpSettings;
  family: string | undefined;
  unit: number | undefined;
  outletName: string | undefined;
  witness: { isWanted: boolean; offMaxMilliamperes: number };
  /** The PDU shows the true state so long after its start. */
  bootMaxMs: number;
}

export function checkPdu(parameters: Parameters, withSecrets: boolean): ParameterProblem[] {
  const problems = checkParameters(pduParameters, parameters, withSecrets);
  const result = parsed(pduParameters, parameters);
  return result.success ? [...problems, ...snmpProblems(result.data, withSecrets)] : problems;
}

/** Parsed and complete, or what is wrong in words without a value. */
export function parseSettings(parameters: Parameters): PduSettings | { problems: string[] } {
  const problems = checkPdu(parameters, true);
  const result = parsed(pduParameters, parameters);
  if (!result.success || problems.length > 0) return { problems: problems.map(({ parameter, message }) => `${parameter} ${message}`) };
  const { data } = result;
  return {
    snmp: snmpSettings(data),
    family: data.family,
    unit: data.switch,
    outletName: data.outlet_name,
    witness: { isWanted: data.current_witness, offMaxMilliamperes: data.off_current_max_ma },
    bootMaxMs: data.bmc_boot_time * 1000,
  };
}

/** Of another method at the same device. */
export function unitOf(parameters: Parameters): number | undefined {
  const { switch: unit = '' } = canonical(pduParameters, parameters);
  return /^\d{1,5}$/.test(unit) ? Number(unit) : undefined;
}

export function deviceKeyOf(parameters: Parameters): string {
  return snmpDeviceKey(canonical(pduParameters, parameters));
}

/** One kept session per device, login and family; a hash, so that no password becomes a key. */
export function sessionKey({ snmp, family }: PduSettings): string {
  return createHash('sha256')
    .update(JSON.stringify([snmp, family]))
    .digest('hex');
}

export const NO_PLUG = 'plug is missing: the number or the name of an outlet';
