import type { Clock } from '../../ports/clock.ts';
import type { BmcFound } from '../../ports/node-checks.ts';
import { whyNothing } from './children.ts';
import type { Children } from './children.ts';
import { isThere } from './reading.ts';
import { redfishHostInterface } from './redfish-host-interface.ts';
import type { RedfishHostInterface } from './redfish-host-interface.ts';
import { ok, problem, quoted, unknown } from './verdict.ts';
import type { Verdict } from './verdict.ts';

/** Where the kernel's driver may put the BMC. */
const DEVICES = ['dev/ipmi0', 'dev/ipmi/0', 'dev/ipmidev/0'];

export interface BmcReading extends BmcFound {
  firmware?: string;
}

export interface BmcVerdict extends Verdict {
  bmc?: BmcReading;
}

export interface BmcPorts {
  root: string;
  clock: Clock;
  children: Pick<Children, 'run'>;
  ipmitool?: string;
}

export interface BmcOptions {
  deadlineMs: number;
  /** Its LAN channel; undefined: the one that ipmitool takes. */
  channel?: number;
}

export async function checkBmc({ root, clock, children, ipmitool = 'ipmitool' }: BmcPorts, { deadlineMs, channel }: BmcOptions): Promise<BmcVerdict> {
  const found = await Promise.all(DEVICES.map(async (device) => isThere(root, device)));
  const redfish = await redfishHostInterface(root);
  if (!found.includes(true)) return withoutIpmi(redfish);
  const endsAtMs = clock.monotonicMs() + deadlineMs;
  const info = await children.run('bmc', ipmitool, ['mc', 'info'], deadlineMs);
  if (info.kind === 'late' || info.kind === 'still-there') return problem('the BMC does not answer in band: ipmitool mc info hangs');
  const why = whyNothing('ipmitool', info);
  if (why !== undefined || info.kind !== 'ended') return unknown(why ?? 'ipmitool said nothing');
  const firmware = firmwareIn(info.output);
  if (info.code !== 0 || firmware === undefined)
    return problem(`the BMC does not answer in band: ${quoted(info.errors === '' ? info.output : info.errors)}`);
  const parameters = ['lan', 'print', ...(channel === undefined ? [] : [String(channel)])];
  // Where it cannot be read the BMC answers all the same.
  const lan = await children.run('bmc', ipmitool, parameters, Math.max(1, endsAtMs - clock.monotonicMs()));
  const bmc = { firmware, ...proposed(redfish), ...(lan.kind === 'ended' ? lanIn(lan.output) : {}) };
  const { address = 'unknown', mac = 'unknown' } = bmc;
  return { ...ok(`the BMC answers: address ${address}, MAC ${mac}, firmware ${quoted(firmware, 20)}`), bmc };
}

/** What the firmware says of the BMC is no sign that it answers. */
function withoutIpmi(redfish: RedfishHostInterface | undefined): BmcVerdict {
  if (redfish === undefined) return unknown('there is no /dev/ipmi0 (modules ipmi_si, ipmi_devintf)');
  return { ...unknown(`there is no /dev/ipmi0; Redfish host interface ${redfish.address}`), bmc: proposed(redfish) };
}

function proposed(redfish: RedfishHostInterface | undefined): Pick<BmcReading, 'address'> {
  return redfish === undefined || redfish.isLocal ? {} : { address: redfish.address };
}

/** `Firmware Revision         : 1.20` of `ipmitool mc info`. */
export function firmwareIn(text: string): string | undefined {
  return /^Firmware Revision\s*: (\S{1,64})\s*$/mu.exec(text)?.[1];
}

/** Address and MAC of `ipmitool lan print`; one of zeros is none. */
export function lanIn(text: string): Pick<BmcReading, 'address' | 'mac'> {
  const address = /^IP Address {2,}: ((?:\d{1,3}\.){3}\d{1,3})\s*$/mu.exec(text)?.[1];
  const mac = /^MAC Address\s*: ((?:[0-9a-f]{2}:){5}[0-9a-f]{2})\s*$/imu.exec(text)?.[1];
  return {
    ...(address === undefined || address === '0.0.0.0' || address.split('.').some((part) => Number(part) > 255) ? {} : { address }),
    ...(mac === undefined || mac === '00:00:00:00:00:00' ? {} : { mac: mac.toLowerCase() }),
  };
}
