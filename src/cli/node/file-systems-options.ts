import type { Option } from 'commander';
import type { NodeDaemonRun } from '../../node/shell/run.ts';
import { absolutePaths } from './storage-options.ts';

export interface FileSystemsFlags {
  verifyFileSystems: boolean;
  verifyWritten: string[];
  readOnlyByDesign: string[];
}

/** Each is written to beside the others, each minute. */
const WRITTEN_MAX = 4;
const BY_DESIGN_MAX = 32;

export function fileSystemsOptions(option: (flags: string, variable: string, description: string) => Option): Option[] {
  return [
    option(
      '--verify-file-systems',
      'VERIFY_FILE_SYSTEMS',
      'look each minute whether file systems take writes: remedies believe that ReadonlyFilesystem is over; in a pod with --host-root',
    ).default(false),
    option('--verify-written <paths>', 'VERIFY_WRITTEN', 'folders that are written to beside --state-dir')
      .argParser(absolutePaths(WRITTEN_MAX))
      .default([], 'none'),
    option('--read-only-by-design <paths>', 'READ_ONLY_BY_DESIGN', 'mount points of file systems that are never written to, such as /usr')
      .argParser(absolutePaths(BY_DESIGN_MAX))
      .default([], 'none'),
  ];
}

/** Throws where a flag is missing that another one needs. */
export function fileSystemsOf({ verifyFileSystems, verifyWritten, readOnlyByDesign }: FileSystemsFlags): Pick<NodeDaemonRun, 'fileSystems'> {
  if (verifyFileSystems) return { fileSystems: { written: verifyWritten, byDesign: readOnlyByDesign } };
  if (verifyWritten.length + readOnlyByDesign.length > 0) throw new Error('--verify-file-systems is missing: the other flags are about it');
  return {};
}
