// Prints every rule of the service's interface with the tests that check it: npm run conformance
import { conformanceList } from '../test/support/project/conformance-list.ts';

process.stdout.write(conformanceList());
