import type { ApiTransport } from '../../src/ports/api-transport.ts';
import type { Node } from '../../src/ports/objects.ts';

/** A request of the controller. Milliseconds since 1970 on this machine's clock. */
export interface ApiCall {
  method: string;
  path: string;
  from: number;
  to: number;
}

/** A Node that a watch of the controller showed as Unknown. `cpuMs`: spent by its thread until then. */
export interface HeardFailure {
  node: string;
  at: number;
  cpuMs: number;
}

/** Of this thread: compilers and collectors run beside it, and keep nobody waiting. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

const nowMs = (): number => performance.timeOrigin + performance.now();

/** The same transport, whose requests are noted with the time that they took, and Nodes that fail, before the controller hears of them. */
export function timed(transport: ApiTransport, calls: ApiCall[], failures: HeardFailure[]): ApiTransport {
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
    watch: (request, sink) => {
      const onEvent: typeof sink.onEvent = (event) => {
        if (request.path === '/api/v1/nodes' && hasFailed(event.object as Node)) {
          failures.push({ node: (event.object as Node).metadata.name, at: nowMs(), cpuMs: threadCpuMs() });
        }
        sink.onEvent(event);
      };
      return transport.watch(request, { onOpen: () => sink.onOpen(), onEvent, onEnd: (error) => sink.onEnd(error) });
    },
  };
}

function hasFailed({ status }: Partial<Node>): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'Unknown') === true;
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
