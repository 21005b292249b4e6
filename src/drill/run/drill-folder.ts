import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TraceEvent } from '../../laws/trace.ts';

/** Everything that one drill writes: configurations, logs, the shared disk, and one trace file for each process. */
export class DrillFolder {
  readonly path: string;

  constructor() {
    this.path = mkdtempSync(join(tmpdir(), 'nodefence-drill-'));
    for (const part of ['traces', 'logs', 'disk']) mkdirSync(this.in(part));
    mkdirSync(this.programs, { mode: 0o700 });
  }

  /** What the controllers may run: their --programs. */
  get programs(): string {
    return this.in('programs');
  }

  in(name: string): string {
    return join(this.path, name);
  }

  trace(name: string): string {
    return join(this.path, 'traces', `${name}.jsonl`);
  }

  log(name: string): string {
    return join(this.path, 'logs', `${name}.log`);
  }

  /** A file that only its owner may read; returns its path. */
  write(name: string, content: object): string {
    return this.writeText(name, JSON.stringify(content));
  }

  /** The same of any text. */
  writeText(name: string, text: string): string {
    const path = this.in(name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }

  writeProgram(name: string, text: string): void {
    writeFileSync(join(this.programs, name), text, { mode: 0o700 });
  }

  record(event: TraceEvent): void {
    appendFileSync(this.trace('drill'), `${JSON.stringify(event)}\n`);
  }

  /** Everything that was traced so far, in the order of time. */
  traces(): TraceEvent[] {
    const names = readdirSync(this.in('traces')).filter((name) => name.endsWith('.jsonl'));
    return names.flatMap((name) => linesOf(readFileSync(join(this.path, 'traces', name), 'utf8'))).sort((a, b) => a.at - b.at);
  }

  /** What one process has traced so far. */
  traceOf(name: string): TraceEvent[] {
    const path = this.trace(name);
    return existsSync(path) ? linesOf(readFileSync(path, 'utf8')) : [];
  }

  /** What each process has printed so far, by its name. */
  logs(): [name: string, text: string][] {
    const folder = this.in('logs');
    return readdirSync(folder).map((file) => [file.replace(/\.log$/u, ''), readFileSync(join(folder, file), 'utf8')]);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** The last line may be half written. */
function linesOf(text: string): TraceEvent[] {
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as TraceEvent);
}
