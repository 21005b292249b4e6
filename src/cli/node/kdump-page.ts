import { applyKdumpSetup, diffOf, planKdumpSetup } from '../../node/kdump/kdump-setup.ts';
import { EXIT } from '../commands/failure.ts';
import { processConsole } from '../commands/terminal/console.ts';
import { harmless } from '../commands/terminal/text.ts';

/** Shows what is to be written, and writes it unless it is only to be shown. */
export async function setUpKdump(root: string, controllers: readonly string[], isDryRun: boolean): Promise<void> {
  const console = processConsole();
  try {
    const setup = await planKdumpSetup(root, controllers);
    const difference = diffOf(setup);
    if (difference === '') {
      console.print('nothing to do: it stands there already');
      return;
    }
    for (const line of difference.trimEnd().split('\n')) console.print(harmless(line));
    if (!isDryRun) await applyKdumpSetup(root, setup);
    console.say(isDryRun ? 'nothing was written (--dry-run)' : `written; now:\n  ${setup.notes.join('\n  ')}`);
  } catch (error) {
    console.say(`nodefence: ${harmless(error instanceof Error ? error.message : String(error))}`);
    process.exitCode = EXIT.failed;
  }
}
