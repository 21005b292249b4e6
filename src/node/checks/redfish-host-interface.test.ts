import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SystemClock } from '../../runtime/system-clock.ts';
import { checkBmc } from './bmc.ts';
import type { BmcVerdict } from './bmc.ts';
import { Children } from './children.ts';
import { hostInterfaceIn, redfishHostInterface } from './redfish-host-interface.ts';
import { MachineFolder } from './testing/machine-folder.ts';

/** Written by the tables of DSP0134 and DSP0270, not recorded: a USB network device, and one record of protocol 4. */
function structure({ address = [198, 51, 100, 7], format = 1, port = 443, before = [] as number[] } = {}): Buffer {
  const data = Buffer.alloc(91);
  data[51] = format;
  data.set(address, 52);
  data.writeUInt16LE(port, 84);
  const device = [0x02, 0xaa, 0xbb, 0xcc, 0xdd, 0x00];
  const records = [...before, 0x04, data.length, ...data];
  const body = [0x40, device.length, ...device, before.length === 0 ? 1 : 2, ...records];
  return Buffer.from([42, 4 + body.length, 0x2a, 0x00, ...body, 0, 0]);
}

describe('the Redfish host interface of the firmware', () => {
  it('says where the service is, by IPv4 or IPv6', () => {
    expect(hostInterfaceIn(structure())).toEqual({ address: '198.51.100.7', port: 443, isLocal: false });
    const v6 = [0x20, 0x01, 0x0d, 0xb8, ...Array.from({ length: 11 }, () => 0), 7];
    expect(hostInterfaceIn(structure({ address: v6, format: 2, port: 8443 }))).toEqual({ address: '2001:db8::7', port: 8443, isLocal: false });
    expect(hostInterfaceIn(structure({ port: 0 }))?.port).toBe(443);
  });

  it('is found behind another protocol', () => {
    expect(hostInterfaceIn(structure({ before: [0x02, 3, 1, 2, 3] }))?.address).toBe('198.51.100.7');
  });

  it.each([
    ['169.254.1.1', [169, 254, 1, 1], 1],
    ['127.0.0.1', [127, 0, 0, 1], 1],
    ['fe80::1', [0xfe, 0x80, ...Array.from({ length: 13 }, () => 0), 1], 2],
    ['::1', [...Array.from({ length: 15 }, () => 0), 1], 2],
  ])('knows that only the machine itself reaches %s', (address, bytes, format) => {
    expect(hostInterfaceIn(structure({ address: bytes, format }))).toEqual({ address, port: 443, isLocal: true });
  });

  it('is none without an address, of another type, or of another interface', () => {
    expect(hostInterfaceIn(structure({ address: [0, 0, 0, 0] }))).toBeUndefined();
    expect(hostInterfaceIn(structure({ format: 0 }))).toBeUndefined();
    const [other, usb] = [structure(), structure()];
    other[0] = 38;
    usb[4] = 0x02;
    expect([hostInterfaceIn(other), hostInterfaceIn(usb)]).toEqual([undefined, undefined]);
  });

  it('is none where it is cut anywhere, and never anything but an address', () => {
    const whole = structure();
    const length = whole[1] ?? 0;
    for (let bytes = 0; bytes < length; bytes += 1) expect(hostInterfaceIn(whole.subarray(0, bytes))).toBeUndefined();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(199), (noise, at) => {
        const spoiled = Buffer.concat([whole]);
        spoiled.set(noise.subarray(0, Math.max(0, spoiled.length - at)), Math.min(at, spoiled.length));
        for (const bytes of [spoiled, noise]) expect(hostInterfaceIn(bytes)?.address ?? '::').toMatch(/^[0-9a-f.:]{2,45}$/);
      }),
    );
  });
});

describe('a machine', () => {
  let machine: MachineFolder;
  beforeEach(() => {
    machine = new MachineFolder();
  });
  afterEach(() => machine.remove());

  function describes(...structures: Buffer[]): void {
    for (const [index, bytes] of structures.entries()) {
      const folder = join(machine.root, `sys/firmware/dmi/entries/42-${index}`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, 'raw'), bytes);
    }
  }

  async function check(): Promise<BmcVerdict> {
    const { root, stateFolder } = machine;
    const clock = new SystemClock();
    return checkBmc({ root, clock, children: new Children({ clock, stateFolder }), ipmitool: 'nodefence-no-ipmitool' }, { deadlineMs: 1_000 });
  }

  it('without one has none', async () => {
    expect(await redfishHostInterface(machine.root)).toBeUndefined();
    describes(structure({ format: 0 }), structure());
    expect(await redfishHostInterface(machine.root)).toMatchObject({ address: '198.51.100.7' });
  });

  it('without IPMI proposes the address of its firmware, and is not checked all the same', async () => {
    describes(structure());
    expect(await check()).toEqual({
      health: 'unknown',
      sentence: 'not checked: there is no /dev/ipmi0; Redfish host interface 198.51.100.7',
      bmc: { address: '198.51.100.7' },
    });
  });

  it('proposes no address that only it can reach', async () => {
    describes(structure({ address: [169, 254, 1, 1] }));
    expect(await check()).toMatchObject({ sentence: 'not checked: there is no /dev/ipmi0; Redfish host interface 169.254.1.1', bmc: {} });
  });
});
