import { rmSync } from 'node:fs';

import { faultsOf } from '../../bmc/bmc-configuration.ts';
import type { BmcService, BmcServiceOptions } from '../../bmc/bmc-service.ts';
import type { BmcFaults } from '../../bmc/faults.ts';
import { checkCredentials } from '../credentials.ts';
import { guidBytes } from '../guid.ts';
import { PowerSwitch } from '../power-switch.ts';
import { IpmiWire } from '../rmcp/ipmi-wire.ts';
import { SessionTap } from '../rmcp/session-tap.ts';
import { seededChance } from '../seeded-chance.ts';
import { supportedFaults } from '../supported-faults.ts';
import { readPipe } from './sets-pipe.ts';
import { SimChassis } from './sim-chassis.ts';
import { SimFiles } from './sim-files.ts';
import { SIM_HOST, startSimFront } from './sim-front.ts';
import { startSimProcess, type SimProcess } from './sim-process.ts';

/**
 * Debian's ipmi_sim as the BMC: it answers every datagram; the machine behind it is ours. A front before it listens in, for the trace, and
 * loses datagrams where a fault says so.
 */
export async function startIpmiSimService({ configuration, folder, clock, random, backend, trace }: BmcServiceOptions): Promise<BmcService> {
  checkCredentials('ipmi-sim', configuration);
  const { node, uuid, username, password, host = '127.0.0.1', port = 0, seed } = configuration;
  let faults = supportedFaults('ipmi-sim', faultsOf(configuration.faults));
  let device = configuration.device ?? '';
  let sessions = 0;
  const passwords = { [username]: password };
  const files = new SimFiles(folder);
  const clean = (): void => rmSync(files.folder, { recursive: true, force: true });
  process.once('exit', clean);
  const power = new PowerSwitch(clock, backend);
  const answer = (): void => files.answer(answersOf(power, faults));
  answer();
  const chassis = new SimChassis(
    power,
    () => faults,
    (event) => trace({ at: clock.wallMs(), kind: 'device', device, plug: '', node, ...event }),
  );
  const closePipe = readPipe(files.setsPipe, (line) => chassis.told(line));
  const guidHex = guidBytes(uuid).toString('hex');
  const startSim = (): Promise<SimProcess> =>
    startSimProcess(
      SIM_HOST,
      (simPort) => files.configure({ host: SIM_HOST, port: simPort, guidHex, username, password: passwords[username] ?? '' }),
      (why) => {
        throw new Error(why);
      },
    );
  let sim = await startSim();
  const front = await startSimFront({
    host,
    port,
    simPort: () => sim.port,
    wire: new IpmiWire(clock, seed === undefined ? random : seededChance(seed)),
    faults: () => faults,
    state: () => backend.state(),
    tap: () => new SessionTap(passwords, () => `session ${(sessions += 1)}`, chassis),
  });
  if (device === '') device = `${host}:${front.port}`;
  return {
    ready: { ready: true, host, port: front.port, fingerprint: '' },
    setFaults: (next) => {
      faults = supportedFaults('ipmi-sim', next);
      answer();
    },
    setPassword: async (next) => {
      checkCredentials('ipmi-sim', { username, password: next });
      passwords[username] = next;
      await sim.close();
      sim = await startSim();
    },
    powerChanged: answer,
    close: async () => {
      front.close();
      closePipe();
      await sim.close();
      process.off('exit', clean);
      clean();
    },
  };
}

function answersOf(power: PowerSwitch, faults: BmcFaults) {
  const shown = power.shown(faults);
  return { power: faults.fails === 'get' ? 'fails' : shown, sets: faults.fails === 'set' ? 'fails' : 'done' } as const;
}
