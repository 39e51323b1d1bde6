import { Counter, Gauge, type Registry } from 'prom-client';

export type Port = 'public' | 'admin';

export type ConnectionMetrics = ReturnType<typeof createConnectionMetrics>;

export function createConnectionMetrics(registry: Registry) {
  const sources = new Map<Port, () => number>();
  new Gauge({
    name: 'transcript_receiver_connections',
    help: 'Open connections by port',
    labelNames: ['port'],
    registers: [registry],
    collect() {
      for (const [port, open] of sources) this.set({ port }, open());
    },
  });
  const shed = new Counter({
    name: 'transcript_receiver_connections_shed_total',
    help: 'Connections closed because their port had reached its limit',
    labelNames: ['port'],
    registers: [registry],
  });
  for (const port of ['public', 'admin']) shed.inc({ port }, 0);
  return {
    /** `open` returns the number of open connections, read at each scrape. */
    watch: (port: Port, open: () => number) => void sources.set(port, open),
    /** Counts a connection that was closed because its port had too many. */
    shed: (port: Port) => shed.inc({ port }),
  };
}
