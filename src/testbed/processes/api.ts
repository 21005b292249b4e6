/**
 * The drill's API server as a process of its own. argv[2] names a JSON configuration file (it holds tokens); one line of JSON on stdout says that
 * it serves; commands come as lines of JSON on stdin, whose end is the end of the process.
 */
import { randomUUID } from 'node:crypto';
import { createWriteStream, readFileSync, type WriteStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Clock } from '../../ports/clock.ts';
import { serveHttps, type HttpShell } from '../apiserver/http-shell.ts';
import { ApiServer, type ServerUser } from '../apiserver/server.ts';
import type { StartUp } from '../apiserver/troubles.ts';
import type { ApiEvent } from '../../laws/trace.ts';
import { Load, type Write } from './load.ts';

export interface ApiConfiguration {
  users: readonly ServerUser[];
  authorization?: 'always-allow' | 'rbac';
  host?: string;
  port?: number;
  /** File to which ApiEvents are appended as lines of JSON. */
  trace?: string;
  historyLimit?: number;
}

/** `create` and `renew` are a bench's own, sent as the first user; `pause` is an outage (silent unless `how` is `refuse`: then the server ends, and is started anew), `resume` its end; `compact` and `expire` make watches and lists start anew. */
type Command =
  | { command: 'create'; writes: readonly Write[] }
  | { command: 'renew'; nodes: readonly string[]; perSecond: number }
  | { command: 'pause'; how?: 'silent' | 'refuse' }
  | { command: 'resume' }
  | { command: 'compact' }
  | { command: 'expire' }
  | { command: 'stop' };

/** As of a real one (docs/availability.md). */
const STARTED_ANEW: StartUp = { rolesMs: 500, storagesMs: 1_000 };

const clock: Clock = {
  monotonicMs: () => performance.now(),
  bootMs: () => performance.now(),
  wallMs: () => Date.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    return () => {
      clearTimeout(timer);
    };
  },
  sleep: () => Promise.reject(new Error('the API server does not sleep')),
};

async function main(configurationPath: string): Promise<void> {
  const configuration = JSON.parse(readFileSync(configurationPath, 'utf8')) as ApiConfiguration;
  const trace = configuration.trace === undefined ? undefined : new Trace(configuration.trace);
  const server = new ApiServer({
    clock,
    random: { next: Math.random, uuid: randomUUID },
    users: configuration.users,
    authorization: configuration.authorization ?? 'rbac',
    tracksManagers: true,
    auditTimeMs: () => performance.timeOrigin + performance.now(),
    ...(configuration.historyLimit === undefined ? {} : { historyLimit: configuration.historyLimit }),
    ...(trace === undefined ? {} : { audit: trace.note }),
  });
  const load = new Load(server, configuration.users[0]?.name ?? '');
  const { host, port } = configuration;
  const shell = await serveHttps({ server, ...(host === undefined ? {} : { host }), ...(port === undefined ? {} : { port }) });
  const outage = new Outage(shell, server);
  process.stdout.write(`${JSON.stringify({ ready: true, url: shell.url, caPem: shell.caPem })}\n`);
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === '') continue;
    const command = JSON.parse(line) as Command;
    if (command.command === 'stop') break;
    if (command.command === 'create') load.create(command.writes);
    else if (command.command === 'renew') load.renew(command.nodes, command.perSecond);
    else await obey(command, outage, server);
  }
  await shell.close();
  await trace?.end();
  process.exit(0);
}

/** Written behind the answers of a turn: nobody waits for it. */
class Trace {
  readonly #file: WriteStream;
  #events: ApiEvent[] = [];

  constructor(path: string) {
    this.#file = createWriteStream(path, { flags: 'a' });
  }

  readonly note = (event: ApiEvent): void => {
    if (this.#events.push(event) === 1)
      setImmediate(() => {
        this.#write();
      });
  };

  async end(): Promise<void> {
    this.#write();
    await new Promise<void>((resolve) => this.#file.end(resolve));
  }

  #write(): void {
    if (this.#events.length > 0) this.#file.write(this.#events.map((event) => `${JSON.stringify(event)}\n`).join(''));
    this.#events = [];
  }
}

class Outage {
  readonly #shell: HttpShell;
  readonly #server: ApiServer;
  #isEnded = false;

  constructor(shell: HttpShell, server: ApiServer) {
    this.#shell = shell;
    this.#server = server;
  }

  async begin(how: 'silent' | 'refuse'): Promise<void> {
    this.#isEnded = how === 'refuse';
    await this.#shell.pause(how);
  }

  async end(): Promise<void> {
    if (this.#isEnded) this.#server.restart(STARTED_ANEW);
    this.#isEnded = false;
    await this.#shell.resume();
  }
}

async function obey(command: Exclude<Command, { command: 'create' | 'renew' }>, outage: Outage, server: ApiServer): Promise<void> {
  switch (command.command) {
    case 'pause':
      await outage.begin(command.how ?? 'silent');
      return;
    case 'resume':
      await outage.end();
      return;
    case 'compact':
      server.compact();
      return;
    case 'expire':
      server.endWatches('expire');
      return;
    case 'stop':
      return;
  }
}

await main(process.argv[2] ?? '');
