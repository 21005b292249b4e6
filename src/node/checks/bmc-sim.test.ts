import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../runtime/system-clock.ts';
import { has, startTestProcess, TEST_PASSWORD } from '../../testbed/devices/ipmi/test-process.ts';
import { checkBmc } from './bmc.ts';
import { Children } from './children.ts';
import { MachineFolder } from './testing/machine-folder.ts';

const cleanUp: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of cleanUp.splice(0).reverse()) await stop();
});

describe('a BMC of ipmi_sim, asked by the real ipmitool over its network in place of /dev/ipmi0', { timeout: 60_000 }, () => {
  it.skipIf(!has('ipmitool') || !has('ipmi_sim'))('answers, and is proposed by no address that it does not have', async () => {
    const { ready, stop } = await startTestProcess('ipmi-sim');
    const machine = new MachineFolder();
    cleanUp.push(stop, () => machine.remove());
    const program = join(machine.root, 'ipmitool');
    machine.write({
      'dev/ipmi0': '',
      ipmitool: `#!/bin/sh\nexec ipmitool -I lanplus -H 127.0.0.1 -p ${ready.port} -U admin -P ${TEST_PASSWORD} -C 3 -N 1 -R 2 "$@"\n`,
    });
    chmodSync(program, 0o700);
    const clock = new SystemClock();
    const children = new Children({ clock, stateFolder: machine.stateFolder });
    const found = await checkBmc({ root: machine.root, clock, children, ipmitool: program }, { deadlineMs: 20_000 });
    // Its LAN parameters were never set: zeros, which are no address.
    expect(found).toEqual({ health: 'ok', sentence: 'the BMC answers: address unknown, MAC unknown, firmware 9.08', bmc: { firmware: '9.08' } });
  });
});
