import { existsSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * `node --import <this file> program.ts` runs the sources without a build. Node strips the types itself; this only maps imports, which name
 * compiled files, to their sources.
 */
registerHooks({
  resolve(specifier, context, next) {
    if (!/^(?:\.|file:).*\.js$/.test(specifier)) return next(specifier, context);
    const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    return next(
      source.protocol === 'file:' && existsSync(fileURLToPath(source)) ? source.href : specifier,
      context,
    );
  },
});
