import { InvalidArgumentError } from 'commander';
import { parseBindAddress } from '../http/bind-address.ts';
import type { BindAddress } from '../http/bind-address.ts';

/** Of an option whose value is an address to listen on. */
export function bindAddress(text: string): BindAddress {
  try {
    return parseBindAddress(text);
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : String(error));
  }
}
