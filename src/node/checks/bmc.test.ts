import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../runtime/system-clock.ts';
import { checkBmc, firmwareIn, lanIn } from './bmc.ts';
import type { BmcVerdict } from './bmc.ts';
import { Children } from './children.ts';
import { MachineFolder } from './testing/machine-folder.ts';

// Written for this test in the layout of `ipmitool mc info` and `ipmitool lan print`; not recorded.
const INFO = 'Device ID                 : 32\nDevice Revision           : 1\nFirmware Revision         : 1.20\nIPMI Version              : 2.0\n';
const LAN = `Set in Progress         : Set Complete
IP Address Source       : Static Address
IP Address              : 198.51.100.7
Subnet Mask             : 255.255.255.0
MAC Address             : 02:00:5E:00:53:0A
SNMP Community String   : public
Default Gateway IP      : 198.51.100.1
Default Gateway MAC     : 00:00:00:00:00:00
`;
let machine: MachineFolder;
beforeEach(() => {
  machine = new MachineFolder();
  machine.write({ 'dev/ipmi0': '', info: INFO, lan: LAN });
});
afterEach(() => machine.remove());

async function check(script: string, deadlineMs = 10_000): Promise<BmcVerdict> {
  machine.write({ ipmitool: `#!/bin/sh\ncd ${machine.root}\n${script}\n` });
  chmodSync(join(machine.root, 'ipmitool'), 0o700);
  const clock = new SystemClock();
  const children = new Children({ clock, stateFolder: machine.stateFolder });
  return checkBmc({ root: machine.root, clock, children, ipmitool: join(machine.root, 'ipmitool') }, { deadlineMs });
}

describe('a BMC', () => {
  it('answers in band, with its address and MAC', async () => {
    expect(await check('case "$*" in "mc info") cat info;; "lan print") cat lan;; *) exit 9;; esac')).toEqual({
      health: 'ok',
      sentence: 'the BMC answers: address 198.51.100.7, MAC 02:00:5e:00:53:0a, firmware 1.20',
      bmc: { firmware: '1.20', address: '198.51.100.7', mac: '02:00:5e:00:53:0a' },
    });
  });

  it('answers too where its address cannot be read', async () => {
    expect(await check('[ "$1" = mc ] && cat info || { echo "Channel 1 is not a LAN channel" >&2; exit 1; }')).toMatchObject({
      health: 'ok',
      bmc: { firmware: '1.20' },
    });
  });

  it('that hangs is a problem after its deadline', async () => {
    expect(await check('exec sleep 60', 300)).toEqual({ health: 'problem', sentence: 'the BMC does not answer in band: ipmitool mc info hangs' });
  });

  it('that answers with an error is a problem, in its own words', async () => {
    expect(await check('echo "Get Device ID command failed" >&2; exit 1')).toEqual({
      health: 'problem',
      sentence: 'the BMC does not answer in band: Get Device ID command failed',
    });
  });

  it('is unknown without the device or without ipmitool', async () => {
    const { root, stateFolder } = machine;
    const clock = new SystemClock();
    const children = new Children({ clock, stateFolder });
    const without = async (): Promise<BmcVerdict> => checkBmc({ root, clock, children, ipmitool: 'nodefence-no-ipmitool' }, { deadlineMs: 1_000 });
    expect(await without()).toEqual({ health: 'unknown', sentence: 'not checked: ipmitool is not installed' });
    machine.remove();
    expect(await without()).toEqual({ health: 'unknown', sentence: 'not checked: there is no /dev/ipmi0 (modules ipmi_si, ipmi_devintf)' });
  });
});

describe('what ipmitool prints', () => {
  it('of an address that is none, or of another MAC, is left out', () => {
    expect(lanIn('IP Address              : 0.0.0.0\nDefault Gateway MAC     : 02:00:5e:00:53:0b\n')).toEqual({});
    expect(lanIn('IP Address              : 999.1.1.1\n')).toEqual({});
  });

  it('gives addresses and nothing else, whatever it is', () => {
    const words = fc.array(
      fc.constantFrom('IP Address   ', 'MAC Address ', ': ', '198.51.100.7', '300.1.1.1', '02:00:5e:00:53:0a', '\n', 'Firmware Revision : '),
      {
        maxLength: 30,
      },
    );
    fc.assert(
      fc.property(words, fc.string(), (parts, noise) => {
        const { address = '1.1.1.1', mac = '02:00:00:00:00:00' } = lanIn(parts.join('') + noise);
        expect([/^[\d.]{7,15}$/.test(address), /^[0-9a-f:]{17}$/.test(mac)]).toEqual([true, true]);
        expect(firmwareIn(parts.join('') + noise) ?? '').not.toMatch(/\s/);
      }),
    );
  });
});
