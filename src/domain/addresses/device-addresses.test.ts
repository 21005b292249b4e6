import { describe, expect, it } from 'vitest';

import { DeviceAddresses, parseDeviceAddresses } from './device-addresses.ts';

function listed(text: string): DeviceAddresses {
  const parsed = parseDeviceAddresses(text);
  if (typeof parsed === 'string') throw new Error(parsed);
  return parsed;
}

describe('An address of a device', () => {
  const usual = new DeviceAddresses();

  it.each(['10.0.0.7', '192.0.2.1', '2001:db8::7', 'fd00::7', 'fe80::7%eth0'])('may be anywhere without a list: %s', (address) => {
    expect(usual.refusal(address, 'device')).toBeUndefined();
  });

  it.each([
    '127.0.0.1',
    '127.255.255.254',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::127.0.0.1',
    '0.0.0.0',
    '::',
    '169.254.169.254',
    '::ffff:169.254.169.254',
    '169.254.170.2',
    'fd00:ec2::254',
    'FD00:0EC2::0254',
    'fe80::a9fe:a9fe%eth0',
    '168.63.129.16',
    '224.0.0.1',
    'ff02::1',
  ])('is not %s, however it is spelled, for a device or a cloud', (address) => {
    expect(usual.refusal(address, 'device')).toContain('nothing is sent there');
    expect(usual.refusal(address, 'cloud')).toContain('nothing is sent there');
    expect(listed('0.0.0.0/0,::/0').refusal(address, 'device')).toContain('nothing is sent there');
  });

  it.each(['', '1.2.3', '0177.0.0.1', '1.2.3.256', '1::2::3', ':1', 'bmc-a', '12345::', '1:2:3:4:5:6:7:8:9', '1.2.3.4.5'])(
    'is none: %j',
    (address) => {
      expect(usual.refusal(address, 'device')).toContain('is no address');
    },
  );

  it('is special until a network within that special one names it', () => {
    expect(listed('127.0.0.0/8').refusal('127.0.0.1', 'device')).toBeUndefined();
    expect(listed('127.0.0.2').refusal('127.0.0.1', 'device')).toContain('the machine of the controller itself');
    expect(listed('127.0.0.0/7').refusal('127.0.0.1', 'device')).toContain('the machine of the controller itself');
  });

  it('is within the list, where there is one; a public cloud needs none', () => {
    const addresses = listed('10.1.0.0/16, 2001:db8:1::/64 192.0.2.7');
    expect(addresses.refusal('10.1.255.1', 'device')).toBeUndefined();
    expect(addresses.refusal('2001:db8:1::9', 'device')).toBeUndefined();
    expect(addresses.refusal('192.0.2.7', 'device')).toBeUndefined();
    expect(addresses.refusal('10.2.0.1', 'device')).toContain(
      'is in no network of --device-addresses of the controller (10.1.0.0/16,2001:db8:1::/64,192.0.2.7)',
    );
    expect(addresses.refusal('2001:db8:2::9', 'device')).toContain('is in no network');
    expect(addresses.refusal('10.2.0.1', 'cloud')).toBeUndefined();
  });

  it.each(['bmc.example.com', '10.0.0.0/33', '::/129', '10.0.0.0/8/8', 'fe80::1%eth0', '10.0.0.0/-1', '/8'])('is not listed by %s', (word) => {
    expect(parseDeviceAddresses(word)).toContain('is no address or network');
  });
});
