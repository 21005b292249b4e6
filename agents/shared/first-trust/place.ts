/** Of `host:port`, as the queue key of a device has it. */
export function placeOfDevice(device: string): { host: string; port: number } {
  const [, host = '', port = ''] = /^\[?([^[\]]*)\]?:(\d+)$/.exec(device) ?? [];
  return { host, port: Number(port) };
}
