import { connect } from 'node:net';

export interface Target {
  host: string;
  port: number;
}

/** Errors by which a network says that nobody is there. */
const UNREACHABLE = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'ENOTFOUND', 'EAI_AGAIN']);

/**
 * Is the host there? A connection or a refusal says yes, the network's own errors say no, and silence says what `whenSilent` says: a gateway may drop what is
 * not for it, a service does not.
 */
export function reach({ host, port }: Target, deadlineMs: number, whenSilent: false | undefined): Promise<boolean | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = (answer: boolean | undefined): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => end(whenSilent), deadlineMs);
    socket.once('connect', () => end(true));
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ECONNRESET') end(true);
      else end(error.code !== undefined && UNREACHABLE.has(error.code) ? false : whenSilent);
    });
  });
}

/** `host:port` or `[address]:port`; without a port, of what answers on most machines. */
export function targetOf(text: string, defaultPort: number): Target {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]*))(?::(\d+))?$/.exec(text.trim()) ?? [];
  return { host: bracketed ?? plain ?? text.trim(), port: port === undefined ? defaultPort : Number(port) };
}
