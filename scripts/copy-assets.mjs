// tsc emits TypeScript only; the dashboard's static files travel beside it.
import { cpSync, existsSync } from 'node:fs';

for (const folder of ['admin/dashboard/page']) {
  if (existsSync(`src/${folder}`)) cpSync(`src/${folder}`, `dist/${folder}`, { recursive: true });
}
