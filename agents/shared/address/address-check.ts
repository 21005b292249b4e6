import { lookup as lookUpByCallback, type LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';

import type { AddressRules, AgentContext } from '../../../src/ports/agents.ts';

/** Why nothing may be sent to an address; undefined: it may be. */
export type AddressCheck = (address: string) => string | undefined;

/** Who asked for this address may not have it. Nothing was sent. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
}

/** Where nobody has said which addresses devices may have, as where a person asks one device. */
export const ANY_ADDRESS: AddressCheck = () => undefined;

export function addressCheckOf(
  { addresses }: Pick<AgentContext, 'addresses'>,
  owner: Parameters<AddressRules['refusal']>[1] = 'device',
): AddressCheck {
  return addresses === undefined ? ANY_ADDRESS : (address) => addresses.refusal(address, owner);
}

/** Of a host that is written as an address, which is never looked up. */
export function refusalOf(host: string, check: AddressCheck): AddressRefused | undefined {
  const refusal = isIP(host) === 0 ? undefined : check(host);
  return refusal === undefined ? undefined : new AddressRefused(refusal);
}

/** For `connect` of `node:net` and `node:tls`: what the name resolves to is checked, and connected to as it was checked. */
export function checkedLookup(check: AddressCheck): LookupFunction {
  return (host, options, callback) => {
    lookUpByCallback(host, { ...options, all: true }, (error, found) => {
      if (error !== null) {
        callback(error, '');
        return;
      }
      try {
        const admitted = admittedOf(host, found, check);
        const [first] = admitted;
        if (options.all === true) callback(null, admitted);
        else callback(null, first.address, first.family);
      } catch (refusal) {
        callback(refusal instanceof Error ? refusal : new Error(String(refusal)), '');
      }
    });
  };
}

/** The address to send datagrams to. Rejects with `AddressRefused`, or with the system's error. */
export async function checkedAddress(host: string, family: 4 | 6 | undefined, check: AddressCheck): Promise<LookupAddress> {
  return admittedOf(host, await lookup(host, { all: true, ...(family === undefined ? {} : { family }) }), check)[0];
}

function admittedOf(host: string, found: readonly LookupAddress[], check: AddressCheck): [LookupAddress, ...LookupAddress[]] {
  const [first, ...further] = found.filter(({ address }) => check(address) === undefined);
  if (first !== undefined) return [first, ...further];
  const reasons = found.map(({ address }) => check(address)).join('; ');
  throw new AddressRefused(isIP(host) === 0 ? `${host} resolves to ${reasons === '' ? 'nothing' : reasons}` : reasons);
}
