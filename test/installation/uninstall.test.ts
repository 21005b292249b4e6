import { uninstalls } from './uninstall-suite.ts';

uninstalls('the embedded API server', true);
