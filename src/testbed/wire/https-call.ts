import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import type { Agent } from 'node:https';
import { TransportError } from '../../ports/api-transport.ts';

export interface HttpsCall {
  url: URL;
  agent: Agent;
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  signal: AbortSignal;
  /** In the turn in which the first byte leaves; throws when nothing is to be sent. */
  beforeSend?: (() => void) | undefined;
}

/** A kept connection that the server had closed: most likely it never saw the request. */
export class StaleConnection extends Error {
  override readonly name = 'StaleConnection';
}

/** Resolves with the head of the answer. */
export function httpsCall({ url, agent, method, headers, body, signal, beforeSend }: HttpsCall): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const outgoing = request(url, { agent, method, signal, headers: { ...headers, ...length } }, resolve);
    outgoing.on('error', (error) => reject(outgoing.reusedSocket && !signal.aborted ? new StaleConnection(error.message, { cause: error }) : error));
    const send = (): void => {
      try {
        beforeSend?.();
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
        outgoing.destroy();
        return;
      }
      outgoing.end(body);
    };
    outgoing.on('socket', (socket) => {
      // An abort in the turn in which an answer ends finds the socket between request and agent, where neither of them hears that it broke.
      if (!outgoing.reusedSocket) socket.on('error', reject);
      if (outgoing.reusedSocket) send();
      else socket.once('secureConnect', send);
    });
  });
}

export async function textOf(incoming: IncomingMessage): Promise<string> {
  incoming.setEncoding('utf8');
  let text = '';
  for await (const chunk of incoming as AsyncIterable<string>) text += chunk;
  return text;
}

/** What went wrong on the wire; anything else is a defect and is thrown as it is. */
export function wireFailure(what: string, error: unknown, signal: AbortSignal): TransportError {
  if (error instanceof TransportError) return error;
  if (signal.aborted) return signal.reason instanceof TransportError ? signal.reason : new TransportError('aborted', `${what}: given up`);
  if (error instanceof SyntaxError) return new TransportError('garbled', `${what}: the answer is no JSON`);
  if (error instanceof StaleConnection || (error instanceof Error && 'code' in error))
    return new TransportError('unreachable', `${what}: ${error.message}`);
  throw error;
}
