import pino from 'pino';
import type { LogFields, Logger } from '../ports/recorder.ts';
import { prettyLine } from './pretty-line.ts';
import { redactedFields, redactedText } from './redaction.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LoggerOptions {
  level: LogLevel;
  format: 'json' | 'pretty';
  /** Written on every line: component, version. */
  base?: Readonly<Record<string, string>>;
  /** Takes whole lines. Default: standard error, written at once, so that nothing is lost when the process ends. */
  write?: (line: string) => void;
  isColoured?: boolean;
}

/** The program's log: one JSON object a line, message constant, fields from log-fields.ts. */
export function createLogger(options: LoggerOptions): Logger {
  const write = options.write ?? standardError();
  const isColoured = options.isColoured ?? false;
  const destination = { write: options.format === 'json' ? write : (line: string) => write(prettyLine(line, isColoured)) };
  const logger = pino(
    {
      level: options.level,
      base: options.base ?? {},
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  const log =
    (level: 'debug' | 'info' | 'warn' | 'error') =>
    (message: string, fields: LogFields = {}): void => {
      if (logger.isLevelEnabled(level)) {
        logger[level](redactedFields(fields), redactedText(message));
      }
    };
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
}

function standardError(): (line: string) => void {
  const destination = pino.destination({ dest: 2, sync: true });
  return (line) => {
    destination.write(line);
  };
}
