import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { TraceEvent } from '../../laws/trace.ts';

/** Where a drill process finds the API server, and as whom it speaks. The file holds a token: only its owner may read it. */
export interface ServerConfiguration {
  server: string;
  caPem: string;
  token: string;
  /** JSONL file to append trace events to. */
  trace: string;
}

/** Reads the configuration whose path is the process's only argument, and names what is missing. */
export function readConfiguration<T extends object>(path: string | undefined, required: readonly (keyof T & string)[]): T {
  if (path === undefined) throw new Error('give the path of the configuration file as the only argument');
  const parsed = JSON.parse(readFileSync(path, 'utf8')) as Partial<T>;
  const missing = required.filter((name) => parsed[name] === undefined || parsed[name] === '');
  if (missing.length > 0) throw new Error(`${path}: ${missing.join(', ')} missing`);
  return parsed as T;
}

/** Appends each event with the machine-wide time in its place: milliseconds since 1970, with fractions. */
export function traceTo(path: string): (event: TraceEvent) => void {
  return (event) => {
    appendFileSync(path, `${JSON.stringify({ ...event, at: performance.timeOrigin + performance.now() })}\n`);
  };
}

/** Hands on each line of JSON on stdin; the process ends with stdin. `leave`: how, also when it is told to end by a signal. */
export function obeyLines(obey: (command: unknown) => void, leave?: () => void): void {
  const lines = createInterface({ input: process.stdin });
  lines.on('line', (line) => {
    obey(JSON.parse(line));
  });
  lines.on('close', leave ?? (() => process.exit(0)));
  if (leave === undefined) return;
  process.on('SIGTERM', leave);
  process.on('SIGINT', leave);
}

/** `more`: what whoever started the process is to know. */
export function sayReady(more: object = {}): void {
  process.stdout.write(`${JSON.stringify({ ready: true, ...more })}\n`);
}
