import { request, type Agent } from 'node:https';
import type { IncomingMessage } from 'node:http';
import type { ConformanceTarget, RequestStep } from './case.ts';

export interface HttpsTargetOptions {
  url: string;
  ca?: string;
  agent: Agent;
  tokens: Readonly<Record<'admin' | 'stranger' | 'nobody', string>>;
  compact(): Promise<void>;
}

const WATCH_DEADLINE_MS = 5_000;

/** Speaks to a server over HTTPS, whichever it is. */
export function httpsTarget(options: HttpsTargetOptions): ConformanceTarget {
  return {
    compact: () => options.compact(),
    async request(step) {
      const response = await open(options, step);
      const text = await readAll(response);
      const isJson = (response.headers['content-type'] ?? '').includes('json');
      return { status: response.statusCode ?? 0, body: isJson ? (JSON.parse(text) as unknown) : text };
    },
    async watch(path, count, meanwhile) {
      const response = await open(options, { method: 'GET', path, status: 200 });
      const events: unknown[] = [];
      const collected = collect(response, events, count);
      await meanwhile();
      await collected;
      response.destroy();
      return events;
    },
  };
}

async function open(options: HttpsTargetOptions, step: RequestStep): Promise<IncomingMessage> {
  const text = step.body === undefined ? undefined : typeof step.body === 'string' ? step.body : JSON.stringify(step.body);
  return await new Promise((resolve, reject) => {
    const message = request(
      new URL(step.path, options.url),
      {
        method: step.method,
        agent: options.agent,
        ...(options.ca === undefined ? { rejectUnauthorized: false } : { ca: options.ca }),
        headers: {
          authorization: `Bearer ${options.tokens[step.as ?? 'admin']}`,
          accept: step.accept ?? 'application/json',
          'user-agent': 'conformance/1.0',
          ...(text === undefined ? {} : { 'content-type': step.contentType ?? 'application/json', 'content-length': Buffer.byteLength(text) }),
        },
      },
      resolve,
    );
    message.on('error', reject);
    message.end(text);
  });
}

async function readAll(response: IncomingMessage): Promise<string> {
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response as AsyncIterable<string>) text += chunk;
  return text;
}

/** Resolves when enough events have come, the stream ended or the deadline is over. */
async function collect(response: IncomingMessage, events: unknown[], count: number): Promise<void> {
  await new Promise<void>((resolve) => {
    let rest = '';
    // Where none may come, one is enough to know.
    const wanted = Math.max(1, count);
    const timer = setTimeout(resolve, WATCH_DEADLINE_MS);
    const finish = (): void => {
      clearTimeout(timer);
      resolve();
    };
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) if (line !== '' && events.length < wanted) events.push(JSON.parse(line));
      if (events.length >= wanted) finish();
    });
    response.on('end', finish);
    response.on('error', finish);
  });
}
