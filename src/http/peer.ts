/** Did a connection come from this machine, or this pod? What `kubectl port-forward` brings does; an unknown peer did not. */
export function isOnThisMachine(remoteAddress: string | undefined): boolean {
  const address = (remoteAddress ?? '').replace(/^::ffff:/i, '');
  return address === '::1' || /^127(\.\d{1,3}){3}$/.test(address);
}
