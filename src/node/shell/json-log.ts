import type { DaemonLog } from '../../ports/node-daemon.ts';
import { redactedFields, redactedText } from '../../telemetry/redaction.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type Level = (typeof LEVELS)[number];

/** One JSON object a line, as the controller's log; a package for it would cost a node more memory than the daemon itself. */
export function jsonLog(level: Level, write: (line: string) => void): DaemonLog {
  const log =
    (own: Level) =>
    (message: string, fields: object = {}): void => {
      if (LEVELS.indexOf(own) < LEVELS.indexOf(level)) return;
      const known = redactedFields({ ...fields });
      write(`${JSON.stringify({ level: own, time: new Date().toISOString(), component: 'node', ...known, message: redactedText(message) })}\n`);
    };
  return { info: log('info'), warn: log('warn'), error: log('error') };
}
