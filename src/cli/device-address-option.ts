import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { DeviceAddresses, parseDeviceAddresses } from '../domain/addresses/device-addresses.ts';

const DESCRIPTION =
  'addresses and networks in which devices may be, separated by commas; default: everywhere but on this machine and where clouds serve credentials, which each have to be named';

export function withDeviceAddressOption(command: Command): Command {
  return command.addOption(
    new Option('--device-addresses <networks>', DESCRIPTION)
      .env('NODEFENCE_DEVICE_ADDRESSES')
      .argParser(networks)
      .default(new DeviceAddresses(), 'see above'),
  );
}

function networks(text: string): DeviceAddresses {
  const parsed = parseDeviceAddresses(text);
  if (typeof parsed === 'string') throw new InvalidArgumentError(`${parsed}.`);
  return parsed;
}
