import type { ApiTransport } from '../../src/ports/api-transport.ts';

/** A request of the controller. Milliseconds since 1970 on this machine's clock. */
export interface ApiCall {
  method: string;
  path: string;
  from: number;
  to: number;
}

const nowMs = (): number => performance.timeOrigin + performance.now();

/** The same transport, whose requests are noted with the time that they took. */
export function timed(transport: ApiTransport, calls: ApiCall[]): ApiTransport {
  return {
    request: async (request) => {
      const { method, path } = request;
      const from = nowMs();
      try {
        return await transport.request(request);
      } finally {
        calls.push({ method, path, from, to: nowMs() });
      }
    },
    watch: (request, sink) => transport.watch(request, sink),
  };
}

/** Those of one node's fence, and the questions for stops that it waits for; nobody waits for Events. */
export function callsOf(calls: readonly ApiCall[], node: string): ApiCall[] {
  const named = new RegExp(`[/-]${node}(?![0-9])`, 'u');
  return calls.filter(({ path }) => named.test(path) || path.endsWith('/nodefencestops'));
}

/** The same with those that name no node, and that a fence waits for as well: it is created, and its Secret is read. */
export function fenceCallsOf(calls: readonly ApiCall[], node: string): ApiCall[] {
  const nameless = calls.filter(({ method, path }) => (method === 'POST' && path.endsWith('/nodefences')) || path.includes('/secrets/'));
  return [...callsOf(calls, node), ...nameless];
}

/** For how long within a window none of these calls was under way. */
export function besidesMs(calls: readonly ApiCall[], from: number, to: number): number {
  let [free, atMs] = [0, from];
  for (const call of calls.toSorted((a, b) => a.from - b.from)) {
    if (call.to <= from || call.from >= to) continue;
    free += Math.max(0, call.from - atMs);
    atMs = Math.max(atMs, Math.min(call.to, to));
  }
  return free + Math.max(0, to - atMs);
}
