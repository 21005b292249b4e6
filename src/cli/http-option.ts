import { Option } from 'commander';
import type { Command } from 'commander';
import { parseBindAddress } from '../http/bind-address.ts';
import type { BindAddress } from '../http/bind-address.ts';
import { bindAddress } from './bind-address-option.ts';

export interface HttpFlags {
  httpAddress: BindAddress;
  httpNames: readonly string[];
}

/** Where probes ask, and by which names this machine may be asked for more. */
export function withHttpOptions(command: Command): Command {
  const address = 'address of /healthz and /readyz, and of /metrics for this machine or pod alone';
  const names = 'names by which /metrics is asked for there, beside localhost, addresses and the host name; separated by commas';
  return command
    .addOption(
      new Option('--http-address <host:port>', address)
        .env('NODEFENCE_HTTP_ADDRESS')
        .argParser(bindAddress)
        .default(parseBindAddress(':8080'), ':8080'),
    )
    .addOption(
      new Option('--http-names <names>', names)
        .env('NODEFENCE_HTTP_NAMES')
        .argParser((text) => text.split(',').map((name) => name.trim()))
        .default([], 'none'),
    );
}
