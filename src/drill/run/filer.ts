import type { DrillFolder } from './drill-folder.ts';

/** Name of the one storage that all volumes of the drill are on. */
export const FILER = 'filer';

/**
 * What shuts a machine out of the disk that all share, lets it in, and shows who is let in; traced as a device is. It is a script of `sh`, for a program of
 * Node would take longer to start than its call may last.
 */
const SCRIPT = `#!/bin/sh
set -eu
disk=$1 trace=$2 what=$3 node=$4
closed="$disk/closed-$node"
tell() {
  printf '{"kind":"device","at":%s,"device":"${FILER}","plug":"%s","node":"%s","storage":"${FILER}","session":"%s","action":"%s",%s,"answer":"0"}\\n' \\
    "$(date +%s%3N)" "$node" "$node" "$$" "$1" "$2" >> "$trace"
}
case $what in
  close) : > "$closed"; tell set '"want":"off"' ;;
  open) rm -f "$closed"; tell set '"want":"on"' ;;
  show)
    if [ -e "$closed" ]; then tell read '"shown":"off"'; echo "closed $node"; else tell read '"shown":"on"'; echo "open $node"; fi ;;
esac
`;

/** Parameters of the methods of every node, as the template has them. */
export function filerTemplate(folder: DrillFolder): Record<string, string> {
  folder.writeProgram(FILER, SCRIPT);
  const command = (what: string): string => `${FILER} ${folder.in('disk')} ${folder.trace(FILER)} ${what} %client%`;
  return {
    agent_name: 'nfs',
    close_command: command('close'),
    open_command: command('open'),
    state_command: command('show'),
    closed_match: 'closed %client%',
    open_match: 'open %client%',
    device_max_latency: '2s',
  };
}
