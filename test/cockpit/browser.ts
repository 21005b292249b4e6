import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const START_MS = 30_000;
const CALL_MS = 20_000;

interface Answer {
  id?: number;
  sessionId?: string;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { message: string };
}

/** A real Chromium without a window, spoken to by its own protocol (DevTools): no package is needed. */
export class Browser {
  readonly #process: ChildProcess;
  readonly #socket: WebSocket;
  readonly #folder: string;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  readonly #pages = new Map<string, Page>();
  #calls = 0;

  private constructor(process: ChildProcess, socket: WebSocket, folder: string) {
    this.#process = process;
    this.#socket = socket;
    this.#folder = folder;
    socket.addEventListener('message', ({ data }) => this.#hear(JSON.parse(String(data)) as Answer));
  }

  static async start(): Promise<Browser> {
    const folder = mkdtempSync(join(tmpdir(), 'nodefence-chromium-'));
    const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-port=0'];
    const process = spawn('chromium', [...flags, `--user-data-dir=${folder}`, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] });
    const url = await new Promise<string>((resolve, reject) => {
      let said = '';
      const timer = setTimeout(() => reject(new Error(`chromium did not start: ${said.slice(-500)}`)), START_MS);
      process.stderr.on('data', (chunk: Buffer) => {
        said += chunk.toString();
        const found = /DevTools listening on (ws:\S+)/u.exec(said)?.[1];
        if (found === undefined) return;
        clearTimeout(timer);
        resolve(found);
      });
    });
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve, { once: true });
      socket.addEventListener('error', () => reject(new Error('chromium cannot be spoken to')), { once: true });
    });
    return new Browser(process, socket, folder);
  }

  async open(url: string): Promise<Page> {
    const { targetId } = (await this.call('Target.createTarget', { url: 'about:blank' })) as { targetId: string };
    const { sessionId } = (await this.call('Target.attachToTarget', { targetId, flatten: true })) as { sessionId: string };
    const page = new Page((method, params) => this.call(method, params, sessionId));
    this.#pages.set(sessionId, page);
    for (const domain of ['Page', 'Runtime', 'Log']) await page.call(`${domain}.enable`);
    await page.call('Page.navigate', { url });
    return page;
  }

  call(method: string, params: object = {}, sessionId?: string): Promise<unknown> {
    this.#calls += 1;
    const id = this.#calls;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`${method}: no answer`)), CALL_MS);
      this.#waiting.set(id, ({ result, error }) => {
        clearTimeout(timer);
        if (error === undefined) resolve(result);
        else reject(new Error(`${method}: ${error.message}`));
      });
      this.#socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
    });
  }

  async close(): Promise<void> {
    this.#socket.close();
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.#process.kill('SIGKILL');
    await ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #hear(answer: Answer): void {
    if (answer.id !== undefined) this.#waiting.get(answer.id)?.(answer);
    else if (answer.sessionId !== undefined) this.#pages.get(answer.sessionId)?.hear(answer.method ?? '', answer.params ?? {});
  }
}

export class Page {
  readonly call: (method: string, params?: object) => Promise<unknown>;
  /** What its console says is wrong: exceptions, refused by the policy, what could not be loaded. */
  readonly complaints: string[] = [];

  constructor(call: (method: string, params?: object) => Promise<unknown>) {
    this.call = call;
  }

  hear(method: string, params: Record<string, unknown>): void {
    if (method === 'Runtime.exceptionThrown') this.complaints.push(JSON.stringify(params));
    if (method === 'Log.entryAdded' && (params['entry'] as { level: string }).level === 'error')
      this.complaints.push(JSON.stringify(params['entry']));
  }

  async evaluate<T>(expression: string): Promise<T> {
    const answer = (await this.call('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })) as {
      result: { value: T };
      exceptionDetails?: unknown;
    };
    if (answer.exceptionDetails !== undefined) throw new Error(JSON.stringify(answer.exceptionDetails));
    return answer.result.value;
  }

  async picture(width: number, height: number, style: 'light' | 'dark'): Promise<Buffer> {
    await this.call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    await this.call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: style }] });
    const { data } = (await this.call('Page.captureScreenshot', { format: 'png' })) as { data: string };
    return Buffer.from(data, 'base64');
  }
}
