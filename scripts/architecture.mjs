// Draws the imports of src into docs/architecture.md: npm run docs:architecture
import { readFileSync, writeFileSync } from 'node:fs';
import { withDrawing } from '../test/support/project/architecture-page.ts';

const page = new URL('../docs/architecture.md', import.meta.url);
writeFileSync(page, withDrawing(readFileSync(page, 'utf8')));
