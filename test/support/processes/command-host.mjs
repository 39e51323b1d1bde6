// Runs commands of the built program in this process, one after the other, each through the program's own entry point.
const MAIN = new URL('../../../dist/main.js', import.meta.url).href;
const FOLDER = process.cwd();

let runs = 0;

process.on('message', async ({ args, env, cwd }) => {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd ?? FOLDER);
  process.argv = [process.execPath, MAIN, ...args];
  process.exitCode = undefined;
  const stdout = textWrittenTo(process.stdout);
  const stderr = textWrittenTo(process.stderr);
  runs += 1;
  // Another address each time: the entry point runs again, what it imports is loaded already.
  await import(`${MAIN}?${runs}`);
  const code = process.exitCode ?? 0;
  process.exitCode = undefined;
  process.send({ code, stdout: stdout(), stderr: stderr() });
});

/**
 * Keeps what is written to a standard stream from now on; returns what was written, and leaves the stream as it was: each run of the
 * entry point adds a listener, which a process of its own does once.
 */
function textWrittenTo(stream) {
  const { write } = stream;
  const listeners = new Set(stream.listeners('error'));
  let text = '';
  stream.write = (chunk, ...rest) => {
    text += chunk;
    rest.findLast((each) => typeof each === 'function')?.();
    return true;
  };
  return () => {
    stream.write = write;
    for (const listener of stream.listeners('error'))
      if (!listeners.has(listener)) stream.off('error', listener);
    return text;
  };
}
