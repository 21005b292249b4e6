// `node farm.ts '{"protocol": "redfish", "count": 10}'`: that many devices in a process of their own, so that what they cost is not ours.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { startBmcHarness } from '../../../src/testbed/devices/bmc/bmc-harness.ts';
import { MemoryMachine } from '../../../src/testbed/devices/bmc/power-backend.ts';
import { PduDevice } from '../../../src/testbed/devices/snmp/pdu-device.ts';
import { startIpmiService } from '../../../src/testbed/devices/ipmi/ipmi-service.ts';
import { seededChance } from '../../../src/testbed/devices/ipmi/seeded-chance.ts';
import { TEST_PASSWORD } from '../../../src/testbed/devices/ipmi/test-process.ts';
import { SystemClock } from '../../../src/runtime/system-clock.ts';
import { SystemRandom } from '../../../src/runtime/system-random.ts';

export interface FarmOptions {
  /** `snmp`: PDUs of one outlet; what they answer to is SNMP 2c. */
  protocol: 'redfish' | 'ipmi' | 'snmp';
  count: number;
  /** From an accepted off to the state that shows it. */
  actsAfterMs?: number;
  /** Redfish: one answers at every address of 127.0.0.0/8, for whichever machine, and shows no UUID; known by `ssl_fingerprint`, and its `certificate` (PEM) is told. */
  isEverywhere?: boolean;
}

/** Devices whose machines are variables: a machine that is a process would be measured instead of us. Each one's parameters, complete. */
export interface Farm {
  devices: readonly Record<string, string>[];
  close(): Promise<void>;
}

/** Started, and every BMC reachable. */
export async function startFarm(options: FarmOptions): Promise<Farm> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    void exited.then(() => reject(new Error('the BMCs ended before they could be reached')));
  });
  return {
    devices: JSON.parse(line) as Record<string, string>[],
    close: async () => {
      child.stdin.end();
      await exited;
    },
  };
}

async function startRedfish(_index: number, actsAfterMs: number, isEverywhere: boolean): Promise<Record<string, string>> {
  const faults = actsAfterMs === 0 ? {} : { offDelayMs: actsAfterMs };
  const { parameters, fingerprint, certificatePem } = await startBmcHarness({
    faults,
    ...(isEverywhere && { host: '0.0.0.0', tree: { uuid: null } }),
  });
  return isEverywhere ? { ...parameters, ssl_fingerprint: fingerprint, certificate: certificatePem } : parameters;
}

/** Its chance is cheap: the system's costs more than all else that a BMC does for an answer. */
async function startIpmi(index: number, actsAfterMs: number): Promise<Record<string, string>> {
  const system = new SystemRandom();
  const random = { ...seededChance(index), uuid: () => system.uuid() };
  const username = 'admin';
  const configuration = {
    node: 'a',
    uuid: system.uuid(),
    username,
    password: TEST_PASSWORD,
    trace: '',
    faults: actsAfterMs === 0 ? {} : { offDelayMs: actsAfterMs },
  };
  const { ready } = await startIpmiService({
    configuration,
    folder: '',
    clock: new SystemClock(),
    random,
    backend: new MemoryMachine(),
    trace: () => undefined,
  });
  return { ip: ready.host, ipport: String(ready.port), username, password: TEST_PASSWORD, cipher: '3' };
}

async function startSnmp(): Promise<Record<string, string>> {
  const community = 'private';
  const { port } = await PduDevice.start({ kind: 'apc-rpdu', clock: new SystemClock(), outlets: [{ number: 1 }], writeCommunity: community });
  return { ip: '127.0.0.1', ipport: String(port), snmp_version: '2c', community };
}

const STARTS = { redfish: startRedfish, ipmi: startIpmi, snmp: startSnmp };

async function main({ protocol, count, actsAfterMs = 0, isEverywhere = false }: FarmOptions): Promise<void> {
  const start = STARTS[protocol];
  const devices = await Promise.all(Array.from({ length: count }, (_unused, index) => start(index, actsAfterMs, isEverywhere)));
  process.stdin.resume().once('end', () => process.exit(0));
  process.stdout.write(`${JSON.stringify(devices)}\n`);
}

const [, program = '', options] = process.argv;
if (options !== undefined && program === fileURLToPath(import.meta.url)) await main(JSON.parse(options) as FarmOptions);
