const ADDRESSES_MAX = 16;

/** The addresses of a Node inside its cluster, which its machine has as well. */
export function internalAddresses(addresses: readonly { type: string; address: string }[] | undefined): string[] {
  return (addresses ?? []).flatMap(({ type, address }) => (type === 'InternalIP' ? [address] : [])).slice(0, ADDRESSES_MAX);
}
