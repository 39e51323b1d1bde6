/**
 * 100 concurrent realtime sessions of 16 kHz pcm_s16le at real-time rate from one process, the simulator in
 * another. Prints what the client process spends: share of one core, memory, and time per audio frame.
 *
 *   npm run build && node bench/realtime.mjs [seconds=15] [sessions=100] [frame milliseconds=100]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { startRealtimeSimulator } from '../dist/simulator/realtime/realtime-simulator.js';
import { startSession } from '../dist/speech/realtime/realtime.js';

const [seconds = 15, sessions = 100, frameMs = 100] = process.argv.slice(2).map(Number);
const FRAME_BYTES = (32_000 * frameMs) / 1000;

if (process.send !== undefined) {
  const simulator = await startRealtimeSimulator({ verifyKey: () => 'ok' });
  process.send(simulator.origin);
  process.on('disconnect', () => simulator.close());
} else {
  const service = fork(new URL(import.meta.url));
  const [origin] = await once(service, 'message');
  await measure(origin);
  service.disconnect();
}

async function measure(origin) {
  const open = await Promise.all(Array.from({ length: sessions }, () => openSession(origin)));
  const before = { cpu: process.cpuUsage(), at: performance.now() };
  let peakRss = 0;
  const sampler = setInterval(() => {
    peakRss = Math.max(peakRss, process.memoryUsage.rss());
  }, 200);
  await Promise.all(open.map(feed));
  const cpu = process.cpuUsage(before.cpu);
  const wallMs = performance.now() - before.at;
  clearInterval(sampler);
  const reports = await Promise.all(open.map((session) => session.end()));
  const frames = reports.reduce((sum, report) => sum + report.acknowledged.frames, 0);
  const cpuMs = (cpu.user + cpu.system) / 1000;
  console.log(
    JSON.stringify({
      sessions,
      seconds: Math.round(wallMs / 100) / 10,
      frameMs,
      frames,
      complete: reports.every((report) => report.complete),
      coreShare: Math.round((cpuMs / wallMs) * 1000) / 1000,
      microsecondsPerFrame: Math.round((cpuMs * 1000) / frames),
      peakRssMiB: Math.round(peakRss / 2 ** 20),
    }),
  );
}

function openSession(origin) {
  return startSession({
    hosts: { global: origin },
    credential: { apiKey: 'bench' },
    audioFormat: { type: 'raw', encoding: 'pcm_s16le', sample_rate: 16_000 },
    transcriptionConfig: { language: 'en', enable_partials: true },
  });
}

/** Sends a frame when it is due, so that a slow moment is caught up and the rate holds. */
async function feed(session, index) {
  const start = performance.now() + (index * frameMs) / sessions;
  const frame = new Uint8Array(FRAME_BYTES);
  for (let sent = 0; sent * frameMs < seconds * 1000; sent += 1) {
    const wait = start + sent * frameMs - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    await session.sendAudio(frame);
  }
}
