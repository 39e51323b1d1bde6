/** Small charts without a library: a line of blocks for the terminal, an SVG for the eye. */
const BLOCKS = '▁▂▃▄▅▆▇█';
const WIDTH = 48;

export function sparkline(values) {
  const step = Math.max(1, values.length / WIDTH);
  const most = Math.max(...values, 1e-9);
  return Array.from({ length: Math.min(WIDTH, values.length) }, (_, index) => {
    const slice = values.slice(
      Math.floor(index * step),
      Math.max(Math.floor((index + 1) * step), Math.floor(index * step) + 1),
    );
    return BLOCKS[Math.min(7, Math.floor((Math.max(...slice) / most) * 7.99))];
  }).join('');
}

/** One panel per series, from zero, over the same time axis. */
export function draw(samples, names) {
  const [width, height, left] = [800, 120, 20];
  const end = samples.at(-1)?.seconds ?? 1;
  const panels = names.map((name, row) => {
    const values = samples.map((sample) => sample[name]);
    const most = Math.max(...values, 1e-9);
    const x = (seconds) => (left + (seconds / end) * (width - 2 * left)).toFixed(1);
    const y = (value) => (row * height + height - 15 - (value / most) * (height - 45)).toFixed(1);
    const points = samples.map((sample) => `${x(sample.seconds)},${y(sample[name])}`).join(' ');
    return (
      `<text x="${left}" y="${row * height + 20}">${name}: most ${most.toFixed(1)}, last ${values.at(-1)?.toFixed(1)}</text>` +
      `<polyline points="${points}" fill="none" stroke="#1f6feb" stroke-width="1.5"/>` +
      `<line x1="${left}" x2="${width - left}" y1="${y(0)}" y2="${y(0)}" stroke="#999"/>`
    );
  });
  const total = names.length * height + 20;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${total}" font-family="sans-serif" font-size="13">` +
    `<rect width="${width}" height="${total}" fill="#fff"/>${panels.join('')}` +
    `<text x="${left}" y="${total - 5}">0 to ${Math.round(end)} s</text></svg>\n`
  );
}
